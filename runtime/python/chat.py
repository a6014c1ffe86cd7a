# chat.py: gives a tokenizer chats, which the model's chat template turns into text.
from __future__ import annotations

import ctypes
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

from library import _fields, _pointer, _size
from text import Tokens, _Encoder, _TextLibrary, _Tokens, _tokens
from values import _flag, _integer, _list, _refuse_value, _utf8

Flag = Union[str, bool, int, None]


class _ChatValue(ctypes.Structure):
    _fields_ = _fields(name=ctypes.c_char_p, kind=ctypes.c_int, text=ctypes.c_char_p, length=_size,
                       number=ctypes.c_int64)


class _Message(ctypes.Structure):
    _fields_ = _fields(role=ctypes.c_char_p, role_length=_size, content=ctypes.c_char_p, content_length=_size,
                       more=ctypes.POINTER(_ChatValue), more_count=_size)


class _ChatOptions(ctypes.Structure):
    _fields_ = _fields(add_generation_prompt=ctypes.c_int, date=ctypes.c_char_p, flags=ctypes.POINTER(_ChatValue),
                       flag_count=_size)


class _ChatLibrary(_TextLibrary):
    """A library with a tokenizer and a chat template."""

    def __init__(self, module: str, name: str, abi: int) -> None:
        super().__init__(module, name, abi)
        status, chat = ctypes.c_int, (_pointer, _pointer, _size, _pointer, _pointer)
        self.chat = self.function("chat", status, *chat, _pointer)
        self.chat_tokens = self.function("chat_tokens", status, *chat)
        self.chat_left_out = self.function("chat_left_out", status, *chat)


def _chat_values(where: str, values: Mapping[str, Any]) -> Tuple[Any, int]:
    """Values by name as the library takes them."""
    made: List[_ChatValue] = []
    for name, value in values.items():
        key, place = _utf8("%s: a name" % where, name, may_end=False), "%s: %s" % (where, name)
        if isinstance(value, str):
            text = _utf8(place, value)
            made.append(_ChatValue(key, 0, text, len(text), 0))
        elif value is None:
            made.append(_ChatValue(key, 3, None, 0, 0))
        elif isinstance(value, int):
            made.append(_ChatValue(key, 1 if isinstance(value, bool) else 2, None, 0,
                                   _integer(place, value, -(2**63), 2**63 - 1)))
        else:
            _refuse_value(place, value, "a str, bool, int or None")
    return (_ChatValue * len(made))(*made), len(made)


def _message(index: int, message: Mapping[str, Any]) -> _Message:
    where = "messages[%d]" % index
    if not isinstance(message, Mapping):
        _refuse_value(where, message, "a dict with role and content")
    role, content = (None if message.get(name) is None else _utf8("%s: %s" % (where, name), message[name])
                     for name in ("role", "content"))
    # transformers leaves out a message's fields that are None, but not flags.
    more = {name: value for name, value in message.items() if name not in ("role", "content") and value is not None}
    values, count = _chat_values(where, more)
    return _Message(role, len(role or b""), content, len(content or b""), values, count)


class _ChatCall:
    """The arguments of a chat, which the library reads in place."""

    def __init__(self, messages: Sequence[Mapping[str, Any]], prompt: bool, date: Optional[str],
                 flags: Mapping[str, Any]) -> None:
        read = [_message(i, each) for i, each in enumerate(_list("messages", messages))]
        self.messages, self.count = (_Message * len(read))(*read), len(read)
        given = {name: value for name, value in flags.items()  # the template sees these two as none
                 if value is not None or name not in ("tools", "documents")}
        values, count = _chat_values("flags", given)
        self.options = _ChatOptions(_flag("add_generation_prompt", prompt),
                                    None if date is None else _utf8("date", date, may_end=False), values, count)


class _Chat(_Encoder):
    """The methods that need a chat template."""

    _library: _ChatLibrary

    def apply_chat_template(self, messages: Sequence[Mapping[str, Any]], add_generation_prompt: bool = False,
                            date: Optional[str] = None, **flags: Flag) -> str:
        """The text of a chat, as transformers' apply_chat_template(..., tokenize=False) gives it.

        messages: dicts with role and content, both str, and further fields that the template reads. date: what
        strftime_now writes, such as "2026-11-23"; None: this machine's date and time. flags: values that the template
        reads by name, such as enable_thinking=False. Messages that the template refuses are a ValueError.
        """
        call, text, length = _ChatCall(messages, add_generation_prompt, date, flags), ctypes.c_void_p(), ctypes.c_size_t()
        with self._caller() as caller:
            status = self._library.chat(caller.text, call.messages, call.count, ctypes.byref(call.options),
                                        ctypes.byref(text), ctypes.byref(length))
            self._library.check_text(status, caller.text)
            found = ctypes.string_at(text, length.value) if length.value else b""
        return found.decode("utf-8", "replace")

    def _refuse_left_out(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Refuses a message that the chat template leaves out, so that its content changes nothing."""
        call, found = _ChatCall(messages, True, None, {}), ctypes.c_size_t()
        with self._caller() as caller:
            status = self._library.chat_left_out(caller.text, call.messages, call.count, ctypes.byref(call.options),
                                                 ctypes.byref(found))
            self._library.check_text(status, caller.text)
        if found.value < call.count:
            raise ValueError("messages[%d]: the chat template leaves out messages of the role %s"
                             % (found.value, messages[found.value]["role"]))

    def chat_tokens(self, messages: Sequence[Mapping[str, Any]], add_generation_prompt: bool = False,
                    date: Optional[str] = None, **flags: Flag) -> Tokens:
        """The tokens of a chat's text, all of them, without the special tokens that encode() adds."""
        call, tokens = _ChatCall(messages, add_generation_prompt, date, flags), _Tokens()
        with self._caller() as caller:
            status = self._library.chat_tokens(caller.text, call.messages, call.count, ctypes.byref(call.options),
                                               ctypes.byref(tokens))
            self._library.check_text(status, caller.text)
            return _tokens(tokens)
