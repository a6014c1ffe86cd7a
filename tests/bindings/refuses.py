# refuses.py - asserts that a call is refused, by which error and with which words.


def refuses(error, words, function, *given, **named):
    try:
        function(*given, **named)
    except error as found:
        assert type(found) is error, repr(found)
        assert words in str(found), "%r, not %r" % (str(found), words)
        assert "\n" not in str(found), str(found)
        return
    raise AssertionError("not refused: " + words)
