import { isRecord } from "@causeway/foundation";

/** The lifecycle hooks of the Runtime SDK (hooks.runtime.cluster.x-k8s.io/v1alpha1) that are called here. */
export const hooksApi = "hooks.runtime.cluster.x-k8s.io/v1alpha1";

/** A hook that extensions may handle, by the names of the Runtime SDK. */
export type LifecycleHook =
  | "BeforeClusterCreate"
  | "AfterControlPlaneInitialized"
  | "BeforeClusterUpgrade"
  | "AfterControlPlaneUpgrade"
  | "AfterClusterUpgrade"
  | "BeforeClusterDelete";

/** Hooks whose response may hold the cluster back. */
export const blockingHooks: ReadonlySet<LifecycleHook> = new Set([
  "BeforeClusterCreate",
  "BeforeClusterUpgrade",
  "AfterControlPlaneUpgrade",
  "BeforeClusterDelete",
]);

/** What a handler returned. */
export interface HookResponse {
  readonly status: "Success" | "Failure";
  readonly message: string;
  /** The cluster is held back for so long; 0: it is not. */
  readonly retryAfterSeconds: number;
}

/** Reads a response. @throws Error that says what is wrong with it */
export function readResponse(body: unknown): HookResponse {
  if (!isRecord(body)) throw new Error("the response is not a JSON object");
  const { status, message, retryAfterSeconds = 0 } = body;
  if (status !== "Success" && status !== "Failure") throw new Error("the response has no status Success or Failure");
  if (typeof retryAfterSeconds !== "number" || !Number.isInteger(retryAfterSeconds) || retryAfterSeconds < 0)
    throw new Error("retryAfterSeconds of the response is not a whole number from 0 on");
  return { status, message: typeof message === "string" ? message.slice(0, 1024) : "", retryAfterSeconds };
}
