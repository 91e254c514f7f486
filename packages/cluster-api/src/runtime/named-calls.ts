import type { ExtensionConfig } from "@causeway/api";
import { CausewayError, isRecord, messageOf, type Clock } from "@causeway/foundation";
import { Namespace, type Informer, type KubernetesClient } from "@causeway/kubernetes";
import { authorityOf } from "./authority.ts";
import type { ExtensionClient } from "./client.ts";
import { handlersOf, type HookHandler } from "./handlers.ts";
import { hooksApi } from "./hooks.ts";
import { KeptResponses, requestKey } from "./responses.ts";

/** The hooks that a ClusterClass names a handler for. */
export type ClassHook = "GeneratePatches" | "ValidateTopology" | "DiscoverVariables";

/** A call of one handler that a ClusterClass names. */
export interface NamedCall {
  readonly hook: ClassHook;
  /** As the status of its ExtensionConfig has it: "HANDLER.CONFIG". */
  readonly handler: string;
  /** Of the object that it is called for. */
  readonly namespace: string;
  /** They win over those of the ExtensionConfig. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** The other fields of the request. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Milliseconds that a response is kept for equal requests. */
  readonly keep: number;
}

type Response = Readonly<Record<string, unknown>>;

/** Where extensions are read, and how they are called. */
export interface NamedCallsOptions {
  readonly configs: Informer<ExtensionConfig>;
  readonly kubernetes: KubernetesClient;
  readonly extensions: ExtensionClient;
  readonly clock: Clock;
}

/** Milliseconds until a handler that failed is called again with an equal request. */
export const againAfterFailure = 10_000;

/** Calls handlers by their names; equal requests within a short time are sent once. */
export class NamedCalls {
  readonly #options: NamedCallsOptions;
  readonly #kept = new KeptResponses();
  /** The last response to each request, however old: used while a handler whose failures are ignored is unreachable. */
  readonly #last = new KeptResponses();

  constructor(options: NamedCallsOptions) {
    this.#options = options;
  }

  /**
   * The response, whose status is Success. While a handler with failurePolicy Ignore cannot be reached: its last
   * response to an equal request, or undefined if there was none, which the caller must not take for an empty response.
   *
   * @throws CausewayError RUNTIME_EXTENSION_FAILED, with the name of the handler
   */
  async call(call: NamedCall, signal: AbortSignal): Promise<Response | undefined> {
    const handler = await this.#handlerOf(call, signal);
    const settings = { ...handler.config.spec.settings, ...call.settings };
    const body = {
      apiVersion: hooksApi,
      kind: `${call.hook}Request`,
      ...(Object.keys(settings).length > 0 ? { settings } : {}),
      ...call.fields,
    };
    const path = `${call.hook.toLowerCase()}/${handler.name}`;
    const key = requestKey(handler.config, path, body);
    const { clock } = this.#options;
    try {
      const kept = this.#kept.find(key, clock.now());
      if (kept && "error" in kept) throw kept.error;
      if (kept) return kept.response;
      const response = await this.#send(call, { handler, path, body }, signal);
      this.#kept.keep(key, { response }, clock.now() + call.keep);
      this.#last.keep(key, { response }, Infinity);
      return response;
    } catch (error) {
      if (!(error instanceof CausewayError)) throw error;
      if (!this.#kept.find(key, clock.now()))
        this.#kept.keep(key, { error }, clock.now() + Math.min(againAfterFailure, call.keep));
      // As upstream: what cannot be called may be ignored, what answers Failure may not.
      if (!handler.isIgnorable || !(error instanceof Unreachable)) throw error;
      const last = this.#last.find(key, clock.now());
      return last && "response" in last ? last.response : undefined;
    }
  }

  async #send(
    call: NamedCall,
    { handler, path, body }: { readonly handler: HookHandler; readonly path: string; readonly body: object },
    signal: AbortSignal,
  ): Promise<Response> {
    const { kubernetes, extensions } = this.#options;
    const { config, timeout } = handler;
    let response: unknown;
    try {
      const ca = await authorityOf(kubernetes, config, signal);
      response = await extensions.call({ config, path, body, timeout, ca }, signal);
      if (!isRecord(response)) throw new Error("the response is no JSON object");
    } catch (error) {
      signal.throwIfAborted();
      throw new Unreachable(...failure(call, messageOf(error), error));
    }
    const { status, message } = response;
    if (status === "Success") return response;
    const why = typeof message === "string" ? message.slice(0, 1024) : "";
    throw failed(call, status === "Failure" ? `got failure response: ${why}` : "its response has no status Success");
  }

  async #handlerOf(call: NamedCall, signal: AbortSignal): Promise<HookHandler> {
    const { configs, kubernetes } = this.#options;
    const config = configs
      .list()
      .find(
        ({ metadata, status }) =>
          !metadata.deletionTimestamp && status?.handlers?.some(({ name }) => name === call.handler),
      );
    if (!config) throw failed(call, "no ExtensionConfig has discovered such a handler");
    const { namespaceSelector } = config.spec;
    const found =
      namespaceSelector && (await kubernetes.find(Namespace, { namespace: "", name: call.namespace }, { signal }));
    const question = { hook: call.hook, namespaceLabels: found?.metadata.labels ?? {} };
    const named = ({ name }: HookHandler) => `${name}.${config.metadata.name}` === call.handler;
    const handler = handlersOf([config], question).find(named);
    if (handler) return handler;
    const isOfHook = handlersOf([{ ...config, spec: { clientConfig: config.spec.clientConfig } }], question).some(
      named,
    );
    throw failed(
      call,
      isOfHook
        ? `the namespaceSelector of ExtensionConfig ${config.metadata.name} does not select namespace ${call.namespace}`
        : `the handler is not one of hook ${call.hook}`,
    );
  }
}

/** A handler that gave no response, which its failurePolicy may ignore. */
class Unreachable extends CausewayError {}

function failed(call: NamedCall, why: string): CausewayError {
  return new CausewayError(...failure(call, why));
}

function failure(
  { handler, hook }: NamedCall,
  why: string,
  cause?: unknown,
): ConstructorParameters<typeof CausewayError> {
  return [
    "RUNTIME_EXTENSION_FAILED",
    `failed to call extension handler ${JSON.stringify(handler)} (${hook}): ${why}`,
    { cause, hint: "Check the extension, its ExtensionConfig, and the name of the handler in the ClusterClass." },
  ];
}
