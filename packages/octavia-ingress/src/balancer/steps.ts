import type { PlannedEvent } from "@causeway/kubernetes";
import type { AnyTreeStep } from "@causeway/octavia-tree";
import type { LoadBalancerCreate } from "@causeway/openstack";
import type { GroupStep } from "./security-group/steps.ts";

/** One call to Neutron for the floating IP of a VIP. */
export type AddressStep =
  | {
      readonly type: "create-floating-ip";
      readonly networkId: string;
      readonly description: string;
      readonly portId: string;
    }
  | { readonly type: "attach-floating-ip"; readonly id: string; readonly portId: string }
  | { readonly type: "detach-floating-ip"; readonly id: string }
  /** `onlyFree`: not if another client has given it to a port since it was listed. */
  | { readonly type: "delete-floating-ip"; readonly id: string; readonly onlyFree?: true };

/** One call to Barbican for a certificate of a listener; `name` is that of the secret there. */
export type CertificateStep =
  /** Its content is in what was observed: no key is part of a step. */
  | { readonly type: "store-certificate"; readonly name: string }
  | { readonly type: "delete-certificate"; readonly name: string; readonly ref: string };

/** One change on the way of an owner to its load balancer. */
export type BalancerStep =
  | { readonly type: "create-load-balancer"; readonly body: LoadBalancerCreate; readonly event: PlannedEvent }
  | { readonly type: "delete-load-balancer"; readonly id: string; readonly broken?: true; readonly event: PlannedEvent }
  | AnyTreeStep
  | AddressStep
  | CertificateStep
  | GroupStep;
