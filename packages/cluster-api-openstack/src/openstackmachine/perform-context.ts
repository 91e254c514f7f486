import type { EventRecorder, Informer, KubeObject, KubernetesClient, Secret } from "@causeway/kubernetes";
import type { Session } from "../identity/sessions.ts";

/** With what the calls to OpenStack are made. */
export interface ServerPerformContext {
  /** The object that the events are about. */
  readonly object: KubeObject;
  readonly session: Session | undefined;
  readonly secrets: Informer<Secret>;
  readonly events: EventRecorder;
  readonly client: KubernetesClient;
}

/** The session and the signal of one call to OpenStack. */
export interface Call {
  readonly session: Session;
  readonly signal: AbortSignal;
}

/** An event of what was done. */
export function emit({ events, object }: ServerPerformContext, reason: string, message: string): void {
  events.event(object, { type: "Normal", reason, message });
}
