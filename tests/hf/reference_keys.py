#!/usr/bin/env python3
"""Prints the keys that the reference libraries read from a checkpoint's files, as their sources say.

    python3 tests/hf/reference_keys.py SITE-PACKAGES MODEL_TYPE...

transformers, sentence-transformers, peft and gguf are parsed, not run; tokenizers is imported and asked for the members of its
components. Each line has a section of gen/common/file_keys.lua, or of config.json the model types of one file, one of
which may have the key; a tab; and the key. Library by library, a missing one is named on standard error.
"""
import ast
import json
import os
import sys
from glob import glob

SITE, TYPES = sys.argv[1], sys.argv[2:]
OTHER_PARTS = ("data2vec_audio", "data2vec_vision", "esmfold")  # files next to a model's that are of another
found = set()


def note(section, keys):
    found.update((section, key) for key in keys if key)


def parse(path):
    with open(os.path.join(SITE, path), encoding="utf-8") as file:
        return ast.parse(file.read())


def classes_of(path):
    return {node.name: node for node in parse(path).body if isinstance(node, ast.ClassDef)}


def methods_of(cls):
    return {node.name: node for node in cls.body if isinstance(node, ast.FunctionDef)}


def text(node):
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def assigned(cls, name):
    """Returns the value that a class gives to a name, or None."""
    for node in cls.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return node.value
    return None


def strings(node):
    return [text(each) for each in ast.walk(node) if text(each)] if node else []


def dict_keys(node):
    return [text(key) for key in node.keys] if isinstance(node, ast.Dict) else []


def fields(cls):
    """Returns the fields of a class that are no class variables."""
    return [node.target.id for node in cls.body
            if isinstance(node, ast.AnnAssign) and "ClassVar" not in ast.unparse(node.annotation)]


def parameters(function):
    names = [each.arg for each in function.args.args + function.args.kwonlyargs]
    return [name for name in names if name not in ("self", "cls") and not name.startswith("_")]


def asked(node, *names):
    """Returns the keys that code takes from dictionaries of these names, also as members (self.x)."""
    def is_one(value):
        return (getattr(value, "id", None) or getattr(value, "attr", None)) in names

    for each in ast.walk(node):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and is_one(each.func.value):
            if each.func.attr in ("pop", "get", "setdefault") and each.args:
                yield text(each.args[0])
        elif isinstance(each, ast.Subscript) and is_one(each.value):
            yield text(each.slice)


def attributes(node):
    """Returns the attributes that code reads of `config`, `self.config` and `x_config`, but for another tower's."""
    def is_config(value):
        name = getattr(value, "id", None) or getattr(value, "attr", None) or ""
        return name == "config" or name.endswith("_config") and name not in ("multimodal_config", "vision_config")

    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and is_config(each.value):
            yield each.attr
        elif isinstance(each, ast.Call) and getattr(each.func, "id", None) in ("getattr", "hasattr"):
            if len(each.args) > 1 and is_config(each.args[0]):
                yield text(each.args[1])


def is_of(cls, others):
    """True if a class says that its configuration is one of others' only."""
    functions = [node for node in cls.body if getattr(node, "name", None) == "__init__"]
    said = [each.annotation for each in functions[0].args.args if each.arg == "config"] if functions else []
    names = {node.id for each in said if each for node in ast.walk(each) if isinstance(node, ast.Name)}
    return bool(names) and names <= others


def transformers_config():
    base = classes_of("transformers/configuration_utils.py")["PreTrainedConfig"]
    rotary = classes_of("transformers/modeling_rope_utils.py")["RotaryEmbeddingConfigMixin"]
    own = set(methods_of(base)) | set(methods_of(rotary)) | {"is_heterogeneous"}
    own |= {node.target.id for node in base.body if isinstance(node, ast.AnnAssign)} - set(fields(base)) - {"model_type"}
    note("config.json", fields(base))
    reads = ("__post_init__", "convert_rope_params_to_dict")
    for cls in (base, rotary):
        for name in reads:
            if name in methods_of(cls):
                note("config.json", asked(methods_of(cls)[name], "kwargs"))
    for name in ("masking_utils", "modeling_layers", "modeling_rope_utils"):
        note("config.json", set(attributes(parse(f"transformers/{name}.py"))) - own)
    note("config.json: rope_parameters", asked(parse("transformers/modeling_rope_utils.py"), "rope_parameters",
                                               "rope_parameters_dict"))
    known, folders = set(), {}
    others, computed = set(), set()  # classes of parts that are not built; what classes compute from keys
    for path in sorted(glob(os.path.join(SITE, "transformers/models/*/configuration_*.py"))):
        for cls in classes_of(path).values():
            word = text(assigned(cls, "model_type"))
            if word and word not in TYPES:
                others.add(cls.name)
            if word in TYPES:
                known.add(word)
                folders.setdefault(os.path.dirname(path), []).append(word)
                section = f"config.json|{word}"
                note(section, fields(cls))
                note(section, dict_keys(assigned(cls, "attribute_map")))
                computed |= set(methods_of(cls))
                for name in reads:
                    if name in methods_of(cls):
                        note(section, asked(methods_of(cls)[name], "kwargs"))
    for folder, words in folders.items():
        for path in glob(folder + "/modeling_*.py"):
            if os.path.basename(path)[9:-3] in OTHER_PARTS:
                continue
            for node in parse(path).body:
                if not isinstance(node, ast.ClassDef) or not is_of(node, others):
                    note("config.json|" + "|".join(words), set(attributes(node)) - own - computed)
    for word in sorted(set(TYPES) - known):
        print(f"transformers has no {word}", file=sys.stderr)
    return folders


def transformers(folders):
    generation = classes_of("transformers/generation/configuration_utils.py")["GenerationConfig"]
    note("generation_config.json", asked(methods_of(generation)["__init__"], "kwargs"))
    base = classes_of("transformers/tokenization_utils_base.py")["PreTrainedTokenizerBase"]
    backend = classes_of("transformers/tokenization_utils_tokenizers.py")["TokenizersBackend"]
    reads = [asked(methods_of(base)[name], "kwargs", "init_kwargs") for name in ("__init__", "_from_pretrained")]
    reads += [asked(methods_of(backend)["__init__"], "kwargs"), strings(assigned(base, "SPECIAL_TOKENS_ATTRIBUTES"))]
    for folder in folders:
        for path in glob(folder + "/tokenization_*.py"):
            for cls in classes_of(path).values():
                if cls.name.endswith("Tokenizer") and "__init__" in methods_of(cls) and "Basic" not in cls.name \
                        and "Wordpiece" not in cls.name:
                    reads.append(parameters(methods_of(cls)["__init__"]))
    for keys in reads:
        note("tokenizer_config.json", [key for key in keys if key and not key.startswith("_")
                                       and key not in ("tokenizer", "tokenizer_object")])
    note("special_tokens_map.json", strings(assigned(base, "SPECIAL_TOKENS_ATTRIBUTES")))
    note("preprocessor_config.json", fields(classes_of("transformers/processing_utils.py")["ImagesKwargs"]))
    for name in ("bit", "clip", "deit", "siglip", "vit"):
        for path in glob(os.path.join(SITE, f"transformers/models/{name}/image_processing_*.py")):
            for cls in classes_of(path).values():
                note("preprocessor_config.json", [target.id for node in cls.body if isinstance(node, ast.Assign)
                                                  for target in node.targets if target.id != "valid_kwargs"])
                note("preprocessor_config.json", asked(cls, "kwargs"))
    for name, cls in classes_of("transformers/utils/quantization_config.py").items():
        if name in ("QuantizationConfigMixin", "GPTQConfig", "AwqConfig", "AutoRoundConfig", "CompressedTensorsConfig"):
            for function in methods_of(cls).values():
                note("config.json: quantization_config", asked(function, "kwargs"))
            note("config.json: quantization_config", parameters(methods_of(cls).get("__init__"))
                 if "__init__" in methods_of(cls) else fields(cls))


def sentence_transformers():
    base = "sentence_transformers/base/"
    transformer = classes_of(base + "modules/transformer.py")["Transformer"]
    methods = methods_of(transformer)
    file = "sentence_bert_config.json"
    note(file, strings(assigned(transformer, "config_keys")))
    note(file, [key for key in parameters(methods["__init__"]) if key not in ("model_name_or_path", "backend")])
    for name in ("model_args", "tokenizer_args", "config_args"):
        if name in strings(methods["load_config"]):
            note(file, [name])
    for path, kind in (("sentence_transformer/modules/pooling", "Pooling"), (base[22:] + "modules/dense", "Dense"),
                       ("sentence_transformer/modules/layer_norm", "LayerNorm"),
                       (base[22:] + "modules/normalize", "Normalize"),
                       ("sentence_transformer/modules/dropout", "Dropout")):
        cls = classes_of(f"sentence_transformers/{path}.py")[kind]
        note(f"config.json of module {kind}", strings(assigned(cls, "config_keys")))
        note(f"config.json of module {kind}", dict_keys(assigned(cls, "config_key_renames")))
    for path in (base + "model.py", "sentence_transformers/sentence_transformer/model.py",
                 "sentence_transformers/cross_encoder/model.py"):
        tree = parse(path)
        note("config_sentence_transformers.json", asked(tree, "model_config"))
        note("modules.json", asked(tree, "module_config"))


def gguf():
    def strings_of(cls):
        for node in cls.body:
            if isinstance(node, ast.ClassDef):
                yield from strings_of(node)
            elif isinstance(node, ast.Assign):
                yield text(node.value)

    for key in strings_of(classes_of("gguf/constants.py")["Keys"]):
        if key:
            note("GGUF", [key.replace("{id}", "0").replace("{name}", "x").replace("{dense}", "x")])


def peft():
    for path, names in (("peft/config.py", ("PeftConfigMixin", "PeftConfig")), ("peft/tuners/lora/config.py", ("LoraConfig",))):
        for name in names:
            note("adapter_config.json", fields(classes_of(path)[name]))


def tokenizers():
    sys.path.insert(0, SITE)
    import tokenizers as library
    makers = ((), ("a",), ("a", "b"), (("a", 0), ("b", 1)), ("a", "isolated"), ([],), (b"\0\0\0\0",))
    not_supported = {"CTC", "CharDelimiterSplit", "DecodeStream", "FixedLength", "Model", "UnicodeScripts", "WordLevel"}
    for module in (library.normalizers, library.pre_tokenizers, library.decoders, library.processors, library.models):
        for name in sorted(set(dir(module)) - not_supported):
            made = None
            for arguments in makers if isinstance(getattr(module, name), type) else ():
                try:
                    made = made or getattr(module, name)(*arguments)
                except Exception:  # the library raises no narrower class
                    pass
            if made is not None:
                note("tokenizer.json", [f"{name}.{key}" for key in json.loads(made.__getstate__()) if key != "type"])
    whole = library.Tokenizer(library.models.BPE())
    whole.enable_truncation(3)
    whole.enable_padding()
    whole.add_special_tokens(["a"])
    state = json.loads(whole.to_str())
    note("tokenizer.json", state)
    note("tokenizer.json", ["added_tokens." + key for key in state["added_tokens"][0]])
    note("tokenizer.json", ["truncation." + key for key in state["truncation"]])


for library in (lambda: transformers(transformers_config()), sentence_transformers, peft, gguf, tokenizers):
    try:
        library()
    except (FileNotFoundError, ImportError) as error:
        print(f"missing: {error}", file=sys.stderr)
for section, key in sorted(found):
    print(f"{section}\t{key}")
