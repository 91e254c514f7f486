import { CausewayError, messageOf } from "@causeway/foundation";
import type { ClusterConfig } from "../config/interface.ts";
import type { KubeObject, ObjectKey, ObjectList, ResourceType } from "../types/meta.ts";
import { keyOf } from "../types/identity.ts";
import { isExpired, isNotFound, isTooLarge } from "./errors.ts";
import type {
  ApplyConfiguration,
  CallOptions,
  DeleteOptions,
  KubernetesClient,
  ListOptions,
  Patch,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./interface.ts";
import { refuseCut, Transport, type ClientOptions, type TransportRequest } from "./transport.ts";
import { collectionPath, objectPath, queryString, requireNamespace } from "./urls.ts";
import { lines, parseWatchEvent } from "./watch-stream.ts";

const PAGE = 500;
/** Of one list. */
const MOST_PAGES = 10_000;
const MOST_BYTES = 2 * 1024 ** 3;

/** What a list or a watch of metadata accepts. */
const metadataAs = (kind: string) => `application/json;as=${kind};g=meta.k8s.io;v=v1`;

const PATCH_TYPES: Readonly<Record<Patch["type"], string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
};

/** A client of the API server that `config` names. Connects on first use; `close` ends what is under way. */
export function createClient(config: ClusterConfig, options: ClientOptions = {}): KubernetesClient {
  return new Client(new Transport(config, options));
}

class Client implements KubernetesClient {
  readonly server: string;
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
    this.server = transport.server;
  }

  get<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, options?: CallOptions): Promise<T> {
    return this.#object<T>(() => ({ method: "GET", path: objectPath(type, key), signal: options?.signal }));
  }

  async find<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    options?: CallOptions,
  ): Promise<T | undefined> {
    try {
      return await this.get(type, key, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async list<T extends KubeObject>(type: ResourceType<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    try {
      return await this.#listAll(type, options);
    } catch (error) {
      // The continue token outlived its revision: begin again, once.
      if (!isExpired(error)) throw error;
      return this.#listAll(type, options);
    }
  }

  async *watch<T extends KubeObject>(
    type: ResourceType<T>,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>, void> {
    const path =
      collectionPath(type, options.namespace) +
      queryString({
        watch: "true",
        allowWatchBookmarks: "true",
        resourceVersion: options.resourceVersion,
        labelSelector: options.labelSelector,
        fieldSelector: options.fieldSelector,
        timeoutSeconds: options.timeoutSeconds === undefined ? undefined : String(options.timeoutSeconds),
      });
    const accept = type.metadataOnly === true ? { accept: metadataAs("PartialObjectMetadata") } : {};
    const request: TransportRequest = { method: "GET", path, signal: options.signal, watch: true, ...accept };
    const answer = await this.#transport.send(request);
    this.#transport.watchChanged(1);
    try {
      for await (const line of lines(answer.body)) {
        yield parseWatchEvent<T>(line, { method: "GET", path, server: this.server });
      }
      refuseCut(answer);
    } catch (error) {
      throw this.#transport.broken(error, request);
    } finally {
      this.#transport.watchChanged(-1);
      answer.body.on("error", () => {}).destroy();
    }
  }

  create<T extends KubeObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#object<T>(() => {
      requireNamespace(type, object.metadata.namespace);
      const path =
        options.subresource === undefined
          ? collectionPath(type, object.metadata.namespace)
          : objectPath(type, keyOf(object), options.subresource);
      return write({ method: "POST", path }, object, options);
    });
  }

  update<T extends KubeObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#object<T>(() =>
      write({ method: "PUT", path: objectPath(type, keyOf(object), options.subresource) }, object, options),
    );
  }

  patch<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#object<T>(() => ({
      ...write({ method: "PATCH", path: objectPath(type, key, options.subresource) }, patch.body, options),
      contentType: PATCH_TYPES[patch.type],
    }));
  }

  apply<T extends KubeObject>(
    type: ResourceType<T>,
    object: ApplyConfiguration<T>,
    options: WriteOptions & { readonly fieldManager: string; readonly force?: boolean },
  ): Promise<T> {
    return this.#object<T>(() => {
      const key = { namespace: object.metadata.namespace ?? "", name: object.metadata.name };
      const path = objectPath(type, key, options.subresource);
      const query = { force: String(options.force ?? true) };
      return {
        ...write({ method: "PATCH", path, query }, object, options),
        contentType: "application/apply-patch+yaml",
      };
    });
  }

  async delete<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<void> {
    const { signal, ...rest } = options;
    const body = JSON.stringify({ apiVersion: "v1", kind: "DeleteOptions", ...rest });
    try {
      await this.#json({ method: "DELETE", path: objectPath(type, key), body, signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  request(
    method: string,
    path: string,
    options: CallOptions & { query?: Record<string, string>; body?: unknown; contentType?: string } = {},
  ): Promise<unknown> {
    return this.#json({
      method,
      path: path + queryString(options.query ?? {}),
      signal: options.signal,
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      ...(options.contentType === undefined ? {} : { contentType: options.contentType }),
    });
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async #listAll<T extends KubeObject>(type: ResourceType<T>, options: ListOptions): Promise<ObjectList<T>> {
    const items: T[] = [];
    let token = "";
    let bytes = 0;
    let limit = PAGE;
    for (let pages = 0; pages < MOST_PAGES && bytes < MOST_BYTES; pages += 1) {
      const { page, size, limit: fitting } = await this.#page(type, options, { token, limit });
      limit = fitting;
      for (const item of page.items) items.push(withType(item, page));
      if (page.continue === "") return { items, resourceVersion: page.resourceVersion };
      token = page.continue;
      bytes += size;
    }
    throw endless(collectionPath(type, options.namespace));
  }

  /**
   * One page of a list. Where the objects are so large that a page is refused, it and all that follow are requested
   * with fewer of them.
   */
  async #page<T extends KubeObject>(
    type: ResourceType<T>,
    options: ListOptions,
    from: { token: string; limit: number },
  ) {
    const { labelSelector, fieldSelector, signal } = options;
    for (let { limit } = from; ; limit = Math.ceil(limit / 10)) {
      const query = queryString({ labelSelector, fieldSelector, limit: String(limit), continue: from.token });
      const path = collectionPath(type, options.namespace) + query;
      const accept = type.metadataOnly === true ? { accept: metadataAs("PartialObjectMetadataList") } : {};
      const request = { method: "GET", path, signal, ...accept };
      try {
        const { body, size } = await this.#transport.read(await this.#transport.send(request), request);
        return { page: parseList<T>(body, path), size, limit };
      } catch (error) {
        if (!isTooLarge(error)) throw error;
        if (limit === 1) throw tooLargeAlone(path, error);
      }
    }
  }

  async #object<T extends KubeObject>(request: () => TransportRequest): Promise<T> {
    const asked = request();
    const body = await this.#json(asked);
    if (!isObject(body)) throw malformed(asked.method, asked.path);
    return body as T;
  }

  async #json(request: TransportRequest): Promise<unknown> {
    return (await this.#transport.read(await this.#transport.send(request), request)).body;
  }
}

interface ListPage<T> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly items: T[];
  readonly resourceVersion: string;
  /** The token of the next page; "" on the last. */
  readonly continue: string;
}

function parseList<T>(body: unknown, path: string): ListPage<T> {
  const list = body as
    | { kind?: unknown; apiVersion?: unknown; items?: unknown; metadata?: Record<string, unknown> }
    | undefined;
  if (typeof list?.kind !== "string" || typeof list.apiVersion !== "string" || typeof list.metadata !== "object") {
    throw malformed("GET", path);
  }
  const { resourceVersion, continue: token } = list.metadata;
  return {
    apiVersion: list.apiVersion,
    kind: list.kind,
    // Go writes an empty list as null in places.
    items: Array.isArray(list.items) ? (list.items as T[]) : [],
    resourceVersion: typeof resourceVersion === "string" ? resourceVersion : "",
    continue: typeof token === "string" ? token : "",
  };
}

/** Items of built-in lists come without apiVersion and kind. */
function withType<T extends KubeObject>(item: T, list: { apiVersion: string; kind: string }): T {
  item.apiVersion ??= list.apiVersion;
  item.kind ??= list.kind.replace(/List$/, "");
  return item;
}

/** A write's request; `query` is what it has beyond the options all writes share. */
function write(
  target: { readonly method: string; readonly path: string; readonly query?: Record<string, string> },
  body: unknown,
  options: WriteOptions,
): TransportRequest {
  const query = { ...target.query, fieldManager: options.fieldManager, dryRun: options.dryRun ? "All" : undefined };
  return {
    method: target.method,
    path: target.path + queryString(query),
    body: JSON.stringify(body),
    signal: options.signal,
  };
}

function isObject(body: unknown): boolean {
  return typeof body === "object" && body !== null && typeof (body as { kind?: unknown }).kind === "string";
}

function endless(path: string): CausewayError {
  return new CausewayError(
    "KUBERNETES_LIST_ENDLESS",
    `the list of ${path} was not read to its end: its pages do not end`,
    {
      hint: "Check that the server's address leads to a Kubernetes API server and not to another web server.",
      details: { path },
    },
  );
}

function tooLargeAlone(path: string, cause: unknown): CausewayError {
  return new CausewayError(
    "KUBERNETES_ANSWER_TOO_LARGE",
    `the list of ${path} was not read: one of its objects alone is too large: ${messageOf(cause)}`,
    {
      cause,
      hint: "Check that the server's address leads to a Kubernetes API server; find and delete the object.",
      details: { path },
    },
  );
}

function malformed(method: string, path: string): CausewayError {
  return new CausewayError(
    "KUBERNETES_MALFORMED_ANSWER",
    `${method} ${path} returned something that is not a Kubernetes object`,
    {
      hint: "Check that the server's address leads to a Kubernetes API server and not to another web server.",
      details: { method, path },
    },
  );
}
