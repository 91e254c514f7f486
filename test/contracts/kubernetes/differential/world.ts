import type { Answer, CallExtras, Json, Raw, Target } from "../interface.ts";
import type { Watches } from "./watches.ts";
import { rootOf, type Subject } from "./subject.ts";
import type { Operation, Revision } from "./operations.ts";
import { Choices } from "./choices.ts";
import { Normal } from "./normal.ts";

const TYPES = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

/** How many objects are tried to end a watch. */
const TRIALS = 12;

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly extras: CallExtras;
}

/** One server during one sequence: the namespace, and what was seen of its objects. */
export class World {
  readonly server: Target["name"];
  readonly normal = new Normal();
  readonly #api: Raw;
  readonly #watches: Watches;
  readonly #namespace: string;
  readonly #seen = new Map<string, Json[]>();
  #lists: string[] = [];

  constructor({ target, api, watches }: { target: Target; api: Raw; watches: Watches }, namespace: string) {
    this.server = target.name;
    this.#api = api;
    this.#watches = watches;
    this.#namespace = namespace;
  }

  /** Sends one operation; a list is read to its end. */
  async perform(operation: Operation, name: string): Promise<{ request: Request; answers: Answer[] }> {
    const request = this.request(operation, name);
    const { method, path, body, extras } = request;
    const answers = [await this.#api.call(method, path, body, extras).catch(unanswered)];
    if (operation.verb === "list") answers.push(...(await this.#following(request, answers[0] as Answer)));
    else this.#remember(operation, path, answers[0] as Answer);
    if (operation.verb === "list") this.#lists.push(revisionOf(answers[0]?.body));
    return { request, answers };
  }

  async get(path: string): Promise<Answer> {
    return this.#api.get(path);
  }

  /** Creates the object that watches report last; false where none of the kind can be made. */
  async finish(subject: Subject): Promise<boolean> {
    const { apiVersion, kind } = subject;
    const metadata = { name: this.#last(subject) };
    // The simplest object first; schemas of custom kinds may want another.
    for (let seed = 0; seed < TRIALS; seed += 1) {
      const choices = seed === 0 ? new Choices([]) : Choices.seeded(seed, 500);
      const body = { apiVersion, kind, metadata, ...subject.body(choices) };
      if ((await this.#api.post(this.collection(subject), body)).code === 201) return true;
    }
    return false;
  }

  /** The events of the kind's watch until then. */
  events(subject: Subject): Promise<Json[]> {
    return this.#watches.take(subject, this.#namespace, this.#last(subject));
  }

  #last(subject: Subject): string {
    return subject.namespaced ? "last" : `${this.#namespace}-last`;
  }

  collection(subject: Subject, apiVersion = subject.apiVersion): string {
    const root = rootOf(apiVersion);
    return subject.namespaced ? `${root}/namespaces/${this.#namespace}/${subject.plural}` : `${root}/${subject.plural}`;
  }

  request(operation: Operation, name: string): Request {
    const { verb, subject, subresource, query, patch } = operation;
    const version = (operation.body as Json | undefined)?.["apiVersion"];
    const known = typeof version === "string" && subject.otherVersions?.includes(version) === true;
    const collection = this.collection(subject, known && patch === "apply" ? version : subject.apiVersion);
    const path = `${collection}/${name}`;
    const below = subresource === undefined ? path : `${path}/${subresource}`;
    switch (verb) {
      case "create":
        return { method: "POST", path: collection, body: this.#named(operation, name), extras: { query } };
      case "list":
        return { method: "GET", path: collection, body: undefined, extras: { query: this.#listQuery(operation) } };
      case "deletecollection":
        return { method: "DELETE", path: collection, body: operation.body, extras: { query } };
      case "get":
        return { method: "GET", path: below, body: undefined, extras: { query } };
      case "delete":
        return { method: "DELETE", path, body: this.#deletion(operation, path), extras: { query } };
      case "update":
        return { method: "PUT", path: below, body: this.#replacement(operation, name, path), extras: { query } };
      case "patch": {
        const headers = { "content-type": TYPES[patch ?? "merge"] };
        return { method: "PATCH", path: below, body: this.#patch(operation, name, path), extras: { query, headers } };
      }
    }
  }

  #named(operation: Operation, name: string): unknown {
    const body = operation.body as Json;
    const metadata = body["metadata"];
    if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) return body;
    const named = operation.generateName ? { generateName: `${name}-` } : { name };
    return { ...body, metadata: { ...named, ...metadata } };
  }

  #replacement(operation: Operation, name: string, path: string): unknown {
    const live = this.#live(path);
    const body = this.#named(operation, name) as Json;
    const over = operation.overLive === true && live !== undefined && isObject(body["metadata"]);
    const laid = over
      ? { ...live, ...body, metadata: { ...(live["metadata"] as Json), ...(body["metadata"] as Json) } }
      : body;
    return this.#pinned(operation, laid as Json, path);
  }

  #patch(operation: Operation, name: string, path: string): unknown {
    if (operation.patch === "json") return operation.body;
    const body = operation.patch === "apply" ? (this.#named(operation, name) as Json) : (operation.body as Json);
    return operation.revision === undefined ? body : this.#pinned(operation, body, path);
  }

  #pinned(operation: Operation, body: Json, path: string): Json {
    const metadata = body["metadata"] ?? {};
    if (!isObject(metadata)) return body;
    const { resourceVersion: _, ...rest } = metadata;
    const revision = this.#revision(operation.revision ?? "none", path);
    return { ...body, metadata: revision === undefined ? rest : { ...rest, resourceVersion: revision } };
  }

  #deletion(operation: Operation, path: string): unknown {
    if (operation.body === undefined) return undefined;
    const resourceVersion = operation.revision === undefined ? undefined : this.#revision(operation.revision, path);
    const live = (this.#live(path)?.["metadata"] as Json | undefined)?.["uid"];
    const uid =
      operation.uid === "bogus"
        ? "0b5c0f0e-0000-4000-8000-000000000000"
        : operation.uid === "current"
          ? live
          : undefined;
    const preconditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    return Object.keys(preconditions).length === 0 ? operation.body : { ...(operation.body as Json), preconditions };
  }

  #listQuery(operation: Operation): Record<string, string> {
    const { revision = "none", query } = operation;
    if (revision === "bogus") return { ...query, resourceVersion: "bogus" };
    const known = revision === "current" ? this.#lists.at(-1) : revision === "stale" ? this.#lists[0] : undefined;
    return known === undefined ? { ...query } : { ...query, resourceVersion: known };
  }

  async #following(request: Request, first: Answer): Promise<Answer[]> {
    const answers: Answer[] = [];
    let token = continueOf(first);
    while (token !== undefined && answers.length < 20) {
      const { resourceVersion: _, resourceVersionMatch: _match, ...query } = request.extras.query ?? {};
      const next = await this.#api.get(request.path, { query: { ...query, continue: token } });
      answers.push(next);
      token = continueOf(next);
    }
    return answers;
  }

  #remember(operation: Operation, path: string, { code, body }: Answer): void {
    if (operation.generateName === true) this.#learnName(body);
    if (code >= 300 || operation.subresource === "scale" || operation.query["dryRun"] !== undefined) return;
    if (body["kind"] === "Status" || !isObject(body["metadata"])) return;
    const name = String(body["metadata"]["name"]);
    const own = operation.verb === "create" ? `${path}/${name}` : path.replace(/\/status$/, "");
    const key = own.replace("/v1beta1/", "/v1/");
    this.#seen.set(key, [...(this.#seen.get(key) ?? []), body]);
  }

  /** Responses have a generated name even when no object is created. */
  #learnName(body: Json): void {
    const { metadata, details } = body;
    const name =
      (isObject(metadata) ? metadata["name"] : undefined) ?? (isObject(details) ? details["name"] : undefined);
    if (typeof name === "string" && /-[a-z0-9]{5}$/.test(name)) this.normal.generated(name);
  }

  #live(path: string): Json | undefined {
    return this.#seen.get(path)?.at(-1);
  }

  #revision(wanted: Revision, path: string): string | undefined {
    const seen = this.#seen.get(path.replace("/v1beta1/", "/v1/")) ?? [];
    if (wanted === "bogus") return "bogus";
    if (wanted === "none") return undefined;
    const state = wanted === "stale" ? seen[0] : seen.at(-1);
    return state === undefined ? undefined : revisionOf(state);
  }
}

/** A server that breaks off has returned nothing that another could return too. */
function unanswered(error: unknown): Answer {
  return { code: 0, body: {}, headers: {}, text: String(error) } as Answer;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function revisionOf(object: unknown): string {
  const revision = ((object as Json | undefined)?.["metadata"] as Json | undefined)?.["resourceVersion"];
  return typeof revision === "string" ? revision : "";
}

function continueOf({ code, body }: Answer): string | undefined {
  const token = (body["metadata"] as Json | undefined)?.["continue"];
  return code === 200 && typeof token === "string" && token !== "" ? token : undefined;
}
