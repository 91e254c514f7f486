import type {
  ApplyConfiguration,
  CallOptions,
  DeleteOptions,
  KubernetesClient,
  KubeObject,
  ListOptions,
  Mirror,
  ObjectKey,
  ObjectList,
  Patch,
  ResourceType,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "@causeway/kubernetes";
import { hasCode } from "@causeway/foundation";
import { authenticated, type User } from "../contract/user.ts";
import type { Cluster } from "../contract/cluster.ts";
import type { Json } from "../json/json.ts";
import { seen, shownTo } from "../contract/resource.ts";
import { current, internalCall, type Call } from "../contract/call.ts";
import { create } from "../registry/create.ts";
import { remove } from "../registry/delete.ts";
import { list } from "../registry/list.ts";
import { apply, patch } from "../registry/patch.ts";
import { update } from "../registry/update.ts";
import { requestInfo } from "../contract/request-info.ts";
import { optionsOfDeletion } from "../server/resources.ts";
import { badRequest, methodNotAllowed, noSuchPath, noSuchResource } from "../errors/status.ts";
import { resourceList } from "../discovery/discovery.ts";
import { scaleRequest } from "../server/scale.ts";
import { isUsage } from "../usage/kinds.ts";
import { unknown, usage, usageList } from "../usage/usage.ts";
import { subresourceRequest } from "../server/subresources.ts";
import { events, follow } from "./follow.ts";

/** The object or collection that a call is about. */
interface Target {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string | undefined;
}

const NONE = new URLSearchParams();

/**
 * A client of a logical cluster for controllers in the process that serves it: the same validation, admission and
 * ownership of fields as over HTTP, without connections, encoding, authorization, fairness and audit. What it does is
 * charged to the cluster. Objects that it returns share their contents with the store: callers must not change them.
 */
export class LocalClient implements KubernetesClient {
  readonly server: string;
  readonly #cluster: Cluster;
  readonly #user: User;
  readonly #fieldManager: string;

  /** `user`: who writes, as admission and validation see it, and field managers unless `fieldManager` names one. */
  constructor(cluster: Cluster, user: User, fieldManager = user.name.replace(/^system:/, "")) {
    this.#cluster = cluster;
    this.#user = authenticated(user);
    this.#fieldManager = fieldManager;
    this.server = cluster.url();
  }

  async get<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, options?: CallOptions): Promise<T> {
    const call = this.#call({ ...type, ...key }, options);
    return this.#shown<T>(call, current(call).object);
  }

  async find<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    options?: CallOptions,
  ): Promise<T | undefined> {
    try {
      return await this.get(type, key, options);
    } catch (error) {
      if (hasCode(error, "KUBERNETES_NOT_FOUND")) return undefined;
      throw error;
    }
  }

  async list<T extends KubeObject>(type: ResourceType<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    const call = this.#call({ ...type, namespace: options.namespace ?? "" }, options);
    const { items, resourceVersion } = await this.#charged(call, () => list(call, selectors(options)));
    return { items: items.map((object) => copied(object) as T), resourceVersion };
  }

  async *watch<T extends KubeObject>(
    type: ResourceType<T>,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>, void> {
    const call = this.#call({ ...type, namespace: options.namespace ?? "" }, options);
    const limit = options.timeoutSeconds === undefined ? [] : [AbortSignal.timeout(options.timeoutSeconds * 1000)];
    const ended = AbortSignal.any([...(options.signal ? [options.signal] : []), ...limit]);
    const from = { query: selectors(options), revision: Number(options.resourceVersion) };
    for await (const event of events(call, from, ended)) yield watchEvent<T>(event);
    options.signal?.throwIfAborted();
  }

  async follow<T extends KubeObject>(
    type: ResourceType<T>,
    scope: Pick<ListOptions, "namespace" | "labelSelector" | "fieldSelector">,
    mirror: Mirror<T>,
    signal: AbortSignal,
  ): Promise<void> {
    const call = this.#call({ ...type, namespace: scope.namespace ?? "" }, { signal });
    const onList = (items: readonly KubeObject[], resourceVersion: string): void =>
      mirror.replace({ items: items.map((object) => copied(object) as T), resourceVersion });
    await follow(
      call,
      { query: selectors(scope), onList, onEvent: (event) => mirror.onEvent(watchEvent<T>(event)) },
      signal,
    );
  }

  create<T extends KubeObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const { namespace = "", name } = object.metadata;
    const place = options.subresource === undefined ? { namespace } : { namespace, name };
    return this.#write<T>({ ...type, ...place, subresource: options.subresource }, options, (call) => {
      const body = plain(object);
      return this.#special(call, body, () => create(call, body));
    });
  }

  update<T extends KubeObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const { namespace = "", name } = object.metadata;
    const target = { ...type, namespace, name, subresource: options.subresource };
    return this.#write<T>(target, options, async (call) => (await update(call, plain(object))).object);
  }

  patch<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    { type: form, body }: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const target = { ...type, ...key, subresource: options.subresource };
    return this.#write<T>(target, options, (call) => patch(call, form, plain(body)));
  }

  apply<T extends KubeObject>(
    type: ResourceType<T>,
    object: ApplyConfiguration<T>,
    options: WriteOptions & { readonly fieldManager: string; readonly force?: boolean },
  ): Promise<T> {
    const { namespace = "", name } = object.metadata;
    const target = { ...type, namespace, name, subresource: options.subresource };
    const { force = true } = options;
    return this.#write<T>(target, options, async (call) => (await apply(call, plain(object), force)).object);
  }

  async delete<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<void> {
    const { signal, ...body } = options;
    const call = this.#call({ ...type, ...key }, { signal });
    try {
      await this.#charged(call, () => remove(call, optionsOfDeletion(call, { body, query: NONE })));
    } catch (error) {
      if (!hasCode(error, "KUBERNETES_NOT_FOUND")) throw error;
    }
  }

  /**
   * Reads and creates objects by their paths, reads and writes scales, and lists the resources of a version. Other
   * paths and verbs are refused: what needs them goes over HTTP.
   */
  async request(
    method: string,
    path: string,
    options: CallOptions & { query?: Record<string, string>; body?: unknown } = {},
  ): Promise<unknown> {
    const query = new URLSearchParams(options.query);
    const info = requestInfo(method, decodeURIComponent(path), query);
    if (!info.isResource) return this.#resources(method, info.path);
    const call = this.#call(info, options);
    if (isUsage(call)) return usageOf(call, info.verb, query);
    if (info.subresource === "scale" && (info.verb === "get" || info.verb === "update")) {
      const body = info.verb === "get" ? undefined : plain(options.body ?? {});
      return this.#charged(call, () => scaleRequest(call, { info, query, body, contentType: undefined }));
    }
    if (info.verb === "get" && info.subresource === "") return this.#shown(call, current(call).object);
    if (info.verb === "list") return this.#charged(call, () => list(call, query));
    if (info.verb !== "create") throw methodNotAllowed();
    const body = plain(options.body ?? {});
    return this.#charged(call, () => this.#special(call, body, () => create(call, body)));
  }

  async close(): Promise<void> {}

  /** Which resources a version of a group has: how a kind is found by its name. Throws 404. */
  #resources(method: string, path: string): unknown {
    const [root, ...names] = path.split("/").filter(Boolean);
    const [group = "", version = ""] = root === "api" ? ["", ...names] : names;
    const isVersion = (root === "api" && names.length === 1) || (root === "apis" && names.length === 2);
    const found = method === "GET" && isVersion ? resourceList(this.#cluster.catalog, group, version) : undefined;
    if (!found) throw noSuchPath();
    return found;
  }

  /** Does a write, and answers with what is stored then, as the called version shows it. */
  async #write<T extends KubeObject>(
    target: Target,
    options: WriteOptions,
    work: (call: Call) => Promise<KubeObject>,
  ): Promise<T> {
    const call = this.#call(target, options);
    return this.#shown<T>(call, await this.#charged(call, () => work(call)));
  }

  /** A subresource with rules of its own, or else what `otherwise` does. */
  async #special(call: Call, body: Json, otherwise: () => Promise<KubeObject>): Promise<KubeObject> {
    const special = await subresourceRequest(call, { body });
    return special ? (special.body as KubeObject) : otherwise();
  }

  async #shown<T extends KubeObject>(call: Call, stored: KubeObject): Promise<T> {
    // What a subresource answers is of no kind that is stored.
    if (stored.kind !== call.resource.kind) return stored as T;
    const object = await seen(call, stored);
    return copied(call.subresource === "" ? shownTo(call, object) : object) as T;
  }

  #charged<T>({ name, subresource, resource, holder }: Call, work: () => T): T {
    const request = ["controller", resource.plural, name, subresource].filter(Boolean).join(" ");
    return this.#cluster.thread.run(holder ?? { cluster: this.#cluster.name, request }, work);
  }

  #call(
    { group, version, plural, namespace = "", name = "", subresource = "" }: Target,
    options: { signal?: AbortSignal | undefined } & Pick<WriteOptions, "dryRun" | "fieldManager"> = {},
  ): Call {
    options.signal?.throwIfAborted();
    const served = this.#cluster.catalog.find(group, version, plural);
    if (!served) throw noSuchResource();
    if (subresource !== "" && !served.version.subresources?.some((s) => s.name === subresource)) throw noSuchResource();
    const place = { namespace: served.resource.namespaced ? namespace : "", name, subresource };
    return {
      ...internalCall(this.#cluster, served.resource, place),
      version: served.version,
      user: this.#user,
      emptyMaps: new Set(),
      dryRun: options.dryRun ?? false,
      fieldManager: options.fieldManager ?? this.#fieldManager,
      fieldValidation: "Warn",
    };
  }
}

async function usageOf(call: Call, verb: string, query: URLSearchParams): Promise<unknown> {
  if (verb !== "get" && verb !== "list") throw methodNotAllowed();
  const { items, why } = await usage(call, query);
  // Controllers show the reason to the user.
  if (items.length === 0 && why !== undefined) throw unknown(why);
  return verb === "get" ? items[0] : usageList(call, items);
}

/** The object with metadata of its own: informers leave managedFields out of theirs. */
function copied(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata } };
}

function watchEvent<T extends KubeObject>({
  type,
  object,
}: {
  type: "ADDED" | "MODIFIED" | "DELETED";
  object: KubeObject;
}): WatchEvent<T> {
  return { type, object: copied(object) as T };
}

/** A body as it would come over the wire: it is the server's own from here on, and has no undefined members. */
function plain(body: unknown): Json {
  const text = JSON.stringify(body);
  if (text === undefined) throw badRequest("a body is required");
  return JSON.parse(text) as Json;
}

function selectors({ labelSelector, fieldSelector }: ListOptions): URLSearchParams {
  const query = new URLSearchParams();
  if (labelSelector) query.set("labelSelector", labelSelector);
  if (fieldSelector) query.set("fieldSelector", fieldSelector);
  return query;
}
