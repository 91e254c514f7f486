import type { ExtensionConfig } from "@causeway/api";
import { CausewayError, isRecord, messageOf, type Clock } from "@causeway/foundation";
import { Namespace, type Informer, type KubernetesClient } from "@causeway/kubernetes";
import { authorityOf } from "./authority.ts";
import type { ExtensionClient } from "./client.ts";
import { CallCutShort, ExtensionBusy, ExtensionGates, ExtensionPaused, longestWait } from "./extension-gate.ts";
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
  /** When it ends at the latest, in milliseconds since the epoch: the calls for one object share their time. */
  readonly deadline: number;
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

/** Milliseconds that all calls for one object may take together. */
export const allCallsWithin = 30_000;

/** Milliseconds until a call is tried again for which the extension, or the object's other calls, left no time. */
const againWhenBusy = 5_000;
const againAfterDeadline = 1_000;

/** Calls handlers by their names; equal requests within a short time are sent once. */
export class NamedCalls {
  readonly #options: NamedCallsOptions;
  readonly #kept = new KeptResponses();
  /** The last response to each request, however old: used while a handler whose failures are ignored is unreachable. */
  readonly #last = new KeptResponses();

  readonly #gates: ExtensionGates;

  constructor(options: NamedCallsOptions) {
    this.#options = options;
    this.#gates = new ExtensionGates(options.clock);
  }

  /**
   * The response, whose status is Success. While a handler with failurePolicy Ignore cannot be reached: its last
   * response to an equal request, or undefined if there was none, which the caller must not take for an empty response.
   *
   * @throws NamedCallFailed with the name of the handler, and when it is called again
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
      if (!(error instanceof NamedCallFailed)) throw error;
      if (error.why === "response" && !this.#kept.find(key, clock.now()))
        this.#kept.keep(key, { error }, clock.now() + Math.min(againAfterFailure, call.keep));
      // As upstream: what cannot be called may be ignored, what responds Failure may not.
      if (!handler.isIgnorable || error.why !== "unreachable") throw error;
      const last = this.#last.find(key, clock.now());
      return last && "response" in last ? last.response : undefined;
    }
  }

  async #send(
    call: NamedCall,
    { handler, path, body }: { readonly handler: HookHandler; readonly path: string; readonly body: object },
    signal: AbortSignal,
  ): Promise<Response> {
    const { kubernetes, extensions, clock } = this.#options;
    const { config } = handler;
    const send = async () => {
      const timeout = Math.max(Math.min(handler.timeout, call.deadline - clock.now()), 1);
      const ca = await authorityOf(kubernetes, config, signal);
      try {
        const response = await extensions.call({ config, path, body, timeout, ca }, signal);
        if (!isRecord(response)) throw new Error("the response is not a JSON object");
        return response;
      } catch (error) {
        // A call that other calls of the object left little time says nothing of the extension.
        throw timeout < handler.timeout / 2 && clock.now() >= call.deadline ? new CallCutShort() : error;
      }
    };
    if (clock.now() + longestWait > call.deadline) throw unsent(call, new CallCutShort(), clock.now());
    const response = await this.#gates.pass(config, send, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      throw unsent(call, error, clock.now());
    });
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
    const selection = { hook: call.hook, namespaceLabels: found?.metadata.labels ?? {} };
    const named = ({ name }: HookHandler) => `${name}.${config.metadata.name}` === call.handler;
    const handler = handlersOf([config], selection).find(named);
    if (handler) return handler;
    const isOfHook = handlersOf([{ ...config, spec: { clientConfig: config.spec.clientConfig } }], selection).some(
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

interface FailureContext {
  /** "unreachable": there was no response, which a failurePolicy may ignore. "busy", "late": it had no time. */
  readonly why: "response" | "unreachable" | "busy" | "late";
  /** Milliseconds until it is called again. */
  readonly again: number;
  readonly cause?: unknown;
}

/** A call of a handler that a ClusterClass names has no response that can be used. */
export class NamedCallFailed extends CausewayError {
  readonly why: FailureContext["why"];
  readonly again: number;

  constructor({ handler, hook }: NamedCall, message: string, { why, again, cause }: FailureContext) {
    super(
      "RUNTIME_EXTENSION_FAILED",
      `failed to call extension handler ${JSON.stringify(handler)} (${hook}): ${message}`,
      { cause, hint: "Check the extension, its ExtensionConfig, and the name of the handler in the ClusterClass." },
    );
    this.why = why;
    this.again = again;
  }
}

function failed(call: NamedCall, message: string): NamedCallFailed {
  return new NamedCallFailed(call, message, { why: "response", again: againAfterFailure });
}

/** Why a call had no response. */
function unsent(call: NamedCall, cause: unknown, now: number): NamedCallFailed {
  if (cause instanceof ExtensionBusy)
    return new NamedCallFailed(call, messageOf(cause), { why: "busy", again: againWhenBusy, cause });
  if (cause instanceof CallCutShort) {
    const message = `the calls for this object take more than ${allCallsWithin / 1000} seconds`;
    return new NamedCallFailed(call, message, { why: "late", again: againAfterDeadline, cause });
  }
  const again = cause instanceof ExtensionPaused ? Math.max(cause.until - now, 0) : againAfterFailure;
  return new NamedCallFailed(call, messageOf(cause), { why: "unreachable", again, cause });
}
