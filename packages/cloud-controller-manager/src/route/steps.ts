import type { AddressPair, Route } from "@causeway/openstack";

/** A port with all its allowed address pairs as they shall be. */
export interface PairedPort {
  readonly id: string;
  /**
   * Of the port that the pairs were read from; a port that has changed since is left alone until the next reconcile.
   */
  readonly revision: number | undefined;
  readonly pairs: readonly AddressPair[];
}

/** What is done for the routes of all nodes together. */
export type Step =
  /** Ports are let through what they could not send before, or no longer let. */
  | { readonly type: "set-address-pairs"; readonly ports: readonly PairedPort[] }
  | { readonly type: "add-routes"; readonly routes: readonly Route[] }
  | { readonly type: "remove-routes"; readonly routes: readonly Route[] }
  /** Condition NetworkUnavailable. */
  | { readonly type: "mark-nodes"; readonly nodes: readonly Mark[] };

/** The state of one Node's condition NetworkUnavailable. */
export interface Mark {
  readonly name: string;
  readonly available: boolean;
  readonly message: string;
}
