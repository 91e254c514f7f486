import { AsyncLocalStorage } from "node:async_hooks";

/** Handles a failure of background work of a request, which no caller awaits. It must not throw. */
type Failed = (error: unknown) => void;

const scope = new AsyncLocalStorage<Failed>();
let guards = 0;

/**
 * Serves a request. What fails in it, or in what it began, without being caught goes to `failed` while the process is
 * guarded.
 */
export function inRequest<T>(failed: Failed, work: () => T): T {
  return scope.run(failed, work);
}

/**
 * Keeps failures of requests from ending the process: one request's fault is not the other tenants'. What fails
 * elsewhere ends the process as it would without. The result ends the guard.
 */
export function guardRequests(): () => void {
  guards += 1;
  if (guards === 1) {
    process.on("unhandledRejection", onRejection);
    process.on("uncaughtException", onException);
  }
  let held = true;
  return () => {
    if (!held) return;
    held = false;
    guards -= 1;
    if (guards > 0) return;
    process.off("unhandledRejection", onRejection);
    process.off("uncaughtException", onException);
  };
}

/**
 * Whether what fails now belongs to a request: then the guard ends that request, and another listener leaves it alone.
 */
export function isOfRequest(): boolean {
  return scope.getStore() !== undefined;
}

function onRejection(reason: unknown): void {
  const failed = scope.getStore();
  if (failed) return failed(reason);
  // With this listener alone, Node would take the rejection for handled.
  if (process.listenerCount("unhandledRejection") === 1) throw reason;
}

function onException(error: unknown): void {
  const failed = scope.getStore();
  if (failed) return failed(error);
  // Thrown from here, it ends the process, and Node prints it.
  if (process.listenerCount("uncaughtException") === 1) throw error;
}
