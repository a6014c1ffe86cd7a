"""clients.py - clients from PyPI talk to servers on this machine: clients.py NAME=ADDRESS ...

Names: chat (a model that writes), embed (embeddings), rank (a cross-encoder), tag (labels of tokens), answer (answers to
questions), entail (if a text follows from another). Each client must read what curl reads. Needs openai, huggingface_hub,
langchain-openai, litellm, cohere, llama-index (openai-like, text-embeddings-inference), haystack-ai with
huggingface-api-haystack, infinity_client and ollama.
"""
import json
import os
import sys
import urllib.request

os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True", DO_NOT_TRACK="1", LITELLM_TELEMETRY="False")
SERVERS = dict(word.split("=", 1) for word in sys.argv[1:])
TEXTS = ["the dog", "how do I reset my password"]
MESSAGES = [{"role": "user", "content": "Hello"}]


TOOLS = [{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {
    "type": "object", "properties": {"a": {"type": "integer", "minimum": 0, "maximum": 9}}, "required": ["a"]}}}]


def ask(name, path, body):
    request = urllib.request.Request(SERVERS[name] + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def same(name, want, got):
    if want != got:
        sys.exit(f"clients.py: {name}: {got!r}, but {want!r} is expected")
    print("ok", name)


def vectors():
    return [each["embedding"] for each in ask("embed", "/v1/embeddings", {"input": TEXTS})["data"]]


def near(name, want, got):
    """Lists of floats; some clients round to float32."""
    if len(want) != len(got) or any(len(a) != len(b) or any(abs(x - y) > 1e-7 for x, y in zip(a, b))
                                    for a, b in zip(want, got)):
        sys.exit(f"clients.py: {name}: other numbers")
    print("ok", name)


def openai_client():
    import openai
    embed = openai.OpenAI(base_url=SERVERS["embed"] + "/v1", api_key="none", max_retries=0)
    near("openai: embeddings in base64", vectors(),
         [each.embedding for each in embed.embeddings.create(model="any", input=TEXTS).data])
    short = embed.embeddings.create(model="any", input=TEXTS[0], dimensions=8, encoding_format="float")
    same("openai: dimensions", 8, len(short.data[0].embedding))
    same("openai: models", ["sentence"], [each.id for each in embed.models.list()])
    try:
        embed.embeddings.create(model="any", input=[])
    except openai.BadRequestError as fault:
        same("openai: a wrong field", "input", fault.body["param"])
    try:
        embed.chat.completions.create(model="any", messages=MESSAGES)
    except openai.NotFoundError as fault:
        same("openai: a route of other models", True, "/v1/embeddings" in fault.message)
    chat = openai.OpenAI(base_url=SERVERS["chat"] + "/v1", api_key="none", max_retries=0)
    options = {"model": "any", "messages": MESSAGES, "max_completion_tokens": 12, "temperature": 0}
    whole = chat.chat.completions.create(**options, logprobs=True, top_logprobs=2)
    same("openai: tokens of a chat", 12, whole.usage.completion_tokens)
    same("openai: logprobs", 2, len(whole.choices[0].logprobs.content[0].top_logprobs))
    pieces, usage = [], None
    for event in chat.chat.completions.create(**options, stream=True, stream_options={"include_usage": True}):
        pieces += [choice.delta.content or "" for choice in event.choices]
        usage = event.usage or usage
    same("openai: a streamed chat", whole.choices[0].message.content, "".join(pieces))
    same("openai: usage of a stream", whole.usage.total_tokens, usage.total_tokens)
    options = {"model": "any", "messages": MESSAGES, "tools": TOOLS, "tool_choice": "required", "seed": 1,
               "parallel_tool_calls": False, "max_tokens": 200}
    call = chat.chat.completions.create(**options).choices[0].message.tool_calls[0]
    same("openai: a call of a tool", ("add", {"a"}), (call.function.name, set(json.loads(call.function.arguments))))
    with chat.chat.completions.stream(**{**options, "max_tokens": 201}) as stream:
        same("openai: a streamed call", call.function.arguments,
             stream.get_final_completion().choices[0].message.tool_calls[0].function.arguments)
    after = MESSAGES + [{"role": "assistant", "tool_calls": [call.model_dump()]},
                        {"role": "tool", "tool_call_id": call.id, "content": "5"}]
    same("openai: after a tool's result", True,
         len(chat.chat.completions.create(model="any", messages=after, tools=TOOLS, max_tokens=3).choices) == 1)
    both = chat.completions.create(model="any", prompt="One two", max_tokens=6, n=2, seed=1, stop=["\n\n"])
    same("openai: completions", 2, len(both.choices))


def hub():
    from huggingface_hub import InferenceClient
    embed, rank, chat = (InferenceClient(SERVERS[name]) for name in ("embed", "rank", "chat"))
    near("huggingface_hub: feature_extraction", vectors()[:1], embed.feature_extraction(TEXTS[0]).tolist())
    similar = embed.sentence_similarity(TEXTS[0], other_sentences=TEXTS)
    same("huggingface_hub: sentence_similarity", True, abs(similar[0] - 1) < 1e-6)
    labelled = InferenceClient(SERVERS["tag"]).token_classification(TEXTS[0], aggregation_strategy="none")
    want = ask("tag", "/predict", {"inputs": TEXTS[0]})["tokens"]
    same("huggingface_hub: token_classification", [(each["text"], each["label"], each["begin"], each["end"]) for each in want],
         [(each.word, each.entity, each.start, each.end) for each in labelled])
    found = InferenceClient(SERVERS["answer"]).question_answering(question="What?", context="one two")
    want = ask("answer", "/predict", {"inputs": ["What?", "one two"]})
    same("huggingface_hub: question_answering", (want["answer"], want["begin"], want["end"]),
         (found.answer, found.start, found.end))
    entail, labels = InferenceClient(SERVERS["entail"]), ["a", "b"]
    for more in {}, {"multi_label": True, "hypothesis_template": "It is {}."}:
        want = ask("entail", "/", {"inputs": TEXTS[0], "parameters": {"candidate_labels": labels, **more}})
        same("huggingface_hub: zero_shot_classification", [(each["label"], each["score"]) for each in want],
             [(each.label, each.score) for each in entail.zero_shot_classification(TEXTS[0], labels, **more)])
    ranked = rank.text_classification("a", top_k=1, function_to_apply="none")
    same("huggingface_hub: text_classification", ask("rank", "/predict", {"inputs": "a", "raw_scores": True})[0]["score"],
         ranked[0].score)
    whole = chat.chat_completion(MESSAGES, max_tokens=12, temperature=0)
    streamed = "".join(event.choices[0].delta.content or "" for event in
                       chat.chat_completion(MESSAGES, max_tokens=12, temperature=0, stream=True) if event.choices)
    same("huggingface_hub: chat_completion", whole.choices[0].message.content, streamed)


def langchain():
    from langchain_openai import ChatOpenAI, OpenAIEmbeddings
    plain = OpenAIEmbeddings(base_url=SERVERS["embed"] + "/v1", api_key="none", model="any", check_embedding_ctx_length=False)
    near("langchain-openai: embed_documents", vectors(), plain.embed_documents(TEXTS))
    chat = ChatOpenAI(base_url=SERVERS["chat"] + "/v1", api_key="none", model="any", temperature=0, max_tokens=12)
    whole = chat.invoke("Hello").content
    same("langchain-openai: a streamed chat", whole, "".join(piece.content for piece in chat.stream("Hello")))
    tools = ChatOpenAI(base_url=SERVERS["chat"] + "/v1", api_key="none", model="any", max_tokens=200, seed=1).bind_tools(
        TOOLS, tool_choice="add", parallel_tool_calls=False)
    call = tools.invoke("Hello").tool_calls[0]
    same("langchain-openai: a call of a tool", ("add", True), (call["name"], 0 <= call["args"]["a"] <= 9))
    streamed = None
    for piece in tools.stream("Hello"):
        streamed = piece if streamed is None else streamed + piece
    same("langchain-openai: a streamed call", call["args"], streamed.tool_calls[0]["args"])


def litellm_client():
    import litellm
    litellm.telemetry = False
    made = litellm.embedding(model="openai/any", input=TEXTS, api_base=SERVERS["embed"] + "/v1", api_key="none")
    near("litellm: embeddings", vectors(), [each["embedding"] for each in made.data])
    whole = litellm.completion(model="openai/any", messages=MESSAGES, max_tokens=12, temperature=0,
                               api_base=SERVERS["chat"] + "/v1", api_key="none")
    same("litellm: a chat", 12, whole.usage.completion_tokens)
    called = litellm.completion(model="openai/any", messages=MESSAGES, max_tokens=200, tools=TOOLS, tool_choice="required",
                                seed=1, parallel_tool_calls=False, api_base=SERVERS["chat"] + "/v1", api_key="none")
    same("litellm: a call of a tool", ("tool_calls", "add"), (called.choices[0].finish_reason,
                                                             called.choices[0].message.tool_calls[0].function.name))
    ranks = litellm.rerank(model="jina_ai/any", query="dog", documents=["a dog", "a cat"], top_n=2, return_documents=True,
                           api_base=SERVERS["rank"] + "/v1/rerank", api_key="none")
    want = ask("rank", "/v1/rerank", {"query": "dog", "documents": ["a dog", "a cat"]})["results"]
    same("litellm: rerank", [each["index"] for each in want], [each["index"] for each in ranks.results])
    try:
        litellm.embedding(model="openai/any", input=["word " * 300], api_base=SERVERS["embed"] + "/v1", api_key="none",
                          max_retries=0)
        sys.exit("clients.py: litellm: a text that is too long is taken")
    except litellm.exceptions.BadRequestError as fault:
        same("litellm: a text that is too long", True, "more tokens than" in str(fault))


def cohere_client():
    import cohere
    ranks = cohere.ClientV2(api_key="none", base_url=SERVERS["rank"]).rerank(model="any", query="dog", top_n=2,
                                                                            documents=["a dog", "a cat"])
    want = ask("rank", "/v1/rerank", {"query": "dog", "documents": ["a dog", "a cat"]})["results"]
    same("cohere: rerank", [(each["index"], each["relevance_score"]) for each in want],
         [(each.index, each.relevance_score) for each in ranks.results])


def llama_index():
    from llama_index.core.llms import ChatMessage
    from llama_index.core.tools import FunctionTool
    from llama_index.embeddings.openai import OpenAIEmbedding
    from llama_index.embeddings.text_embeddings_inference import TextEmbeddingsInference
    from llama_index.llms.openai_like import OpenAILike
    own = {"api_base": SERVERS["embed"] + "/v1", "api_key": "none", "model_name": "any"}
    near("llama-index: OpenAIEmbedding", vectors(), OpenAIEmbedding(**own).get_text_embedding_batch(TEXTS))
    same("llama-index: dimensions", 8, len(OpenAIEmbedding(**own, dimensions=8).get_query_embedding(TEXTS[0])))
    tei = TextEmbeddingsInference(model_name="any", base_url=SERVERS["embed"])
    near("llama-index: TextEmbeddingsInference", vectors(), tei.get_text_embedding_batch(TEXTS))
    same("llama-index: a long text is cut", len(vectors()[0]), len(tei.get_text_embedding("word " * 300)))

    def model(**more):
        return OpenAILike(model="any", api_base=SERVERS["chat"] + "/v1", api_key="none", temperature=0,
                          **{"max_tokens": 12, "is_chat_model": True, **more})
    asked = [ChatMessage(role="user", content="Hello")]
    same("llama-index: a streamed chat", model().chat(asked).message.content,
         "".join(each.delta or "" for each in model().stream_chat(asked)))
    plain = model(is_chat_model=False)
    same("llama-index: a streamed completion", plain.complete("Hello").text,
         "".join(each.delta or "" for each in plain.stream_complete("Hello")))

    def add(a: int) -> int:
        return a
    called = model(is_function_calling_model=True, max_tokens=300).chat_with_tools(
        [FunctionTool.from_defaults(add, description="Adds.")], user_msg="Hello", tool_required=True)
    same("llama-index: a call of a tool", "add", called.message.additional_kwargs["tool_calls"][0].function.name)


def haystack():
    from haystack import Document
    from haystack.components.embedders import OpenAIDocumentEmbedder, OpenAITextEmbedder
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.dataclasses import ChatMessage
    from haystack.utils import Secret
    from haystack_integrations.components.rankers.huggingface_api import HuggingFaceTEIRanker
    key = {"api_key": Secret.from_token("none"), "model": "any"}
    own = {**key, "api_base_url": SERVERS["embed"] + "/v1"}
    near("haystack: OpenAITextEmbedder", vectors()[:1], [OpenAITextEmbedder(**own).run(TEXTS[0])["embedding"]])
    made = OpenAIDocumentEmbedder(**own, progress_bar=False).run([Document(content=each) for each in TEXTS])
    near("haystack: OpenAIDocumentEmbedder", vectors(), [each.embedding for each in made["documents"]])
    words = []
    chat = {**key, "api_base_url": SERVERS["chat"] + "/v1", "generation_kwargs": {"max_tokens": 12, "temperature": 0}}
    whole = OpenAIChatGenerator(**chat).run([ChatMessage.from_user("Hello")])["replies"][0].text
    OpenAIChatGenerator(**chat, streaming_callback=lambda each: words.append(each.content)).run(
        [ChatMessage.from_user("Hello")])
    same("haystack: a streamed chat", whole, "".join(words))
    ranked = HuggingFaceTEIRanker(url=SERVERS["rank"]).run("dog", [Document(content=each) for each in ("a dog", "a cat")])
    want = ask("rank", "/rerank", {"query": "dog", "texts": ["a dog", "a cat"]})
    same("haystack: HuggingFaceTEIRanker", [each["score"] for each in want],
         [each.score for each in ranked["documents"]])


def infinity():
    from infinity_client import Client, models
    from infinity_client.api.default import embeddings, rerank
    made = embeddings.sync(client=Client(base_url=SERVERS["embed"]), body=models.OpenAIEmbeddingInputText.from_dict(
        {"model": "any", "input": TEXTS, "modality": "text", "encoding_format": "float"}))
    near("infinity: embeddings", vectors(), [each.embedding for each in made.data])
    asked = {"model": "any", "query": "dog", "documents": ["a dog", "a cat"]}
    ranked = rerank.sync(client=Client(base_url=SERVERS["rank"]), body=models.RerankInput.from_dict(asked))
    same("infinity: rerank", [(each["index"], each["relevance_score"]) for each in ask("rank", "/rerank", asked)["results"]],
         [(each.index, each.relevance_score) for each in ranked.results])


def ollama_client():
    """Its own routes are not there, and the reply says which are."""
    import ollama
    try:
        ollama.Client(host=SERVERS["chat"]).chat(model="any", messages=MESSAGES)
        sys.exit("clients.py: ollama: a route that is not there")
    except ollama.ResponseError as fault:
        same("ollama: is told of the routes", (404, True), (fault.status_code, "/v1/chat/completions" in str(fault)))


for run in (openai_client, hub, langchain, litellm_client, cohere_client, llama_index, haystack, infinity, ollama_client):
    run()
