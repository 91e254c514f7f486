import type { EndpointSlice, KubeObject, Node, PlannedEvent, Service } from "@causeway/kubernetes";
import type { ObservedBalancer } from "../balancer/balancer.ts";
import type { Bundle } from "../certificates/pkcs12.ts";
import type { IngressConfig } from "../config/config.ts";
import type { Owner } from "../names.ts";
import type { Ingress } from "../objects/ingress.ts";
import type { ClassParameters } from "./parameters.ts";

/** A load balancer's Ingresses: one with a load balancer of its own, or all of a class that shares one. */
export interface Observed {
  readonly owner: Owner;
  /** What events are about. */
  readonly subject: KubeObject;
  readonly config: IngressConfig;
  readonly class: ClassParameters;
  /** The oldest first. */
  readonly served: readonly Ingress[];
  /** They have our finalizer, and are no longer to be served here. */
  readonly released: readonly Ingress[];
  readonly keepFloatingIp: boolean;
  /** The load balancer remains for other Ingresses, whose class is gone: those that are released go without it. */
  readonly kept?: boolean;
  /**
   * Ingresses are to be released that may still have something of a time when they did not share a load balancer: when
   * (ms since the epoch) to read again.
   */
  readonly blocked: number | undefined;
  /** By "namespace/name". */
  readonly services: ReadonlyMap<string, Service>;
  /** Of those Services, where members are pods. */
  readonly slices: ReadonlyMap<string, readonly EndpointSlice[]>;
  /** By "namespace/name". */
  readonly secrets: ReadonlyMap<string, Bundle | { readonly problem: string }>;
  /** False: TLS is wanted, and the cloud has no key manager. */
  readonly keyManager: boolean;
  readonly nodes: readonly Node[];
  readonly balancer: ObservedBalancer;
}

/** What is published for all Ingresses of the load balancer. */
export interface Published {
  /** Undefined: what was published remains. */
  readonly address: string | undefined;
  /** The Ingresses that events are about; the others are about the subject. */
  readonly about?: ReadonlyMap<PlannedEvent, Ingress>;
}
