import type { ExtensionConfig, ExtensionConfigStatus } from "@causeway/api";
import { isRecord } from "@causeway/foundation";
import { isEmptySelector, matchesSelector } from "@causeway/kubernetes";
import { hooksApi } from "./hooks.ts";

type Handler = NonNullable<ExtensionConfigStatus["handlers"]>[number];

/** A handler of a hook, and whom to ask. */
export interface HookHandler {
  readonly config: ExtensionConfig;
  /** As the extension calls it. */
  readonly name: string;
  readonly timeout: number;
  readonly isIgnorable: boolean;
}

const defaultTimeout = 10;
/** Seconds: a handler is called within a reconcile. */
const longestTimeout = 30;

/** The handlers of a hook for the objects of a namespace, in the order of their names. */
export function handlersOf(
  configs: readonly ExtensionConfig[],
  { hook, namespaceLabels }: { readonly hook: string; readonly namespaceLabels: Readonly<Record<string, string>> },
): HookHandler[] {
  return configs
    .filter(({ spec, metadata }) => !metadata.deletionTimestamp && isFor(spec.namespaceSelector, namespaceLabels))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .flatMap((config) =>
      (config.status?.handlers ?? [])
        .filter(({ requestHook }) => requestHook.hook === hook && requestHook.apiVersion === hooksApi)
        .map((handler) => ({
          config,
          name: handler.name.slice(0, -(config.metadata.name.length + 1)),
          timeout: Math.min(handler.timeoutSeconds ?? defaultTimeout, longestTimeout) * 1000,
          isIgnorable: handler.failurePolicy === "Ignore",
        })),
    );
}

function isFor(
  selector: ExtensionConfig["spec"]["namespaceSelector"],
  labels: Readonly<Record<string, string>>,
): boolean {
  return selector === undefined || isEmptySelector(selector) || matchesSelector(selector, labels);
}

/** Handlers of one extension at most. */
const mostHandlers = 100;

/** The handlers in the response to discovery, under the names that they have in the status. */
export function readDiscovery(body: unknown, config: string): Handler[] {
  if (!isRecord(body)) throw new Error("the response to discovery is not a JSON object");
  const { status, message, handlers: list = [] } = body;
  if (status !== "Success")
    throw new Error(`discovery failed: ${typeof message === "string" ? message : "no message"}`);
  if (!Array.isArray(list)) throw new Error("handlers of the response are no list");
  if (list.length > mostHandlers) throw new Error(`an extension has ${mostHandlers} handlers at most`);
  const found = list.map((entry: unknown) => readHandler(entry, config));
  const names = new Set(found.map(({ name }) => name));
  if (names.size < found.length) throw new Error("two handlers have the same name");
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function readHandler(entry: unknown, config: string): Handler {
  const { name, requestHook, timeoutSeconds, failurePolicy } = isRecord(entry) ? entry : {};
  if (typeof name !== "string" || !/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name))
    throw new Error(`${JSON.stringify(name)} is not a name of a handler`);
  const { apiVersion, hook } = isRecord(requestHook) ? requestHook : {};
  if (typeof apiVersion !== "string" || typeof hook !== "string")
    throw new Error(`handler ${name} names no hook with its apiVersion`);
  if (timeoutSeconds !== undefined && !isTimeout(timeoutSeconds))
    throw new Error(`timeoutSeconds of handler ${name} is not a number from 1 to ${longestTimeout}`);
  if (failurePolicy !== undefined && failurePolicy !== "Fail" && failurePolicy !== "Ignore")
    throw new Error(`failurePolicy of handler ${name} is neither Fail nor Ignore`);
  return {
    name: `${name}.${config}`,
    requestHook: { apiVersion, hook },
    timeoutSeconds: timeoutSeconds ?? defaultTimeout,
    failurePolicy: failurePolicy ?? "Fail",
  };
}

function isTimeout(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= longestTimeout;
}
