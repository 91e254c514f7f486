import { CausewayError } from "@causeway/foundation";

/** What decides whether a call is held. `route` with {id} in place of ids; `deletes` as in `CallOptions`. */
export interface DeletingCall {
  readonly service: string;
  readonly method: string;
  readonly route: string;
  readonly deletes?: boolean | undefined;
}

/**
 * Whole resources whose loss loses data or an address. Not their parts and links (attachments, members, rules, tags,
 * metadata), which controllers change all the time, and nothing of Keystone.
 */
const WHOLE: Readonly<Record<string, readonly string[]>> = {
  compute: ["/servers/{id}", "/os-server-groups/{id}"],
  "block-storage": ["/volumes/{id}", "/snapshots/{id}", "/backups/{id}", "/groups/{id}", "/group_snapshots/{id}"],
  "shared-file-system": ["/shares/{id}", "/snapshots/{id}", "/share-networks/{id}"],
  network: [
    "/ports/{id}",
    "/trunks/{id}",
    "/networks/{id}",
    "/subnets/{id}",
    "/subnetpools/{id}",
    "/routers/{id}",
    "/floatingips/{id}",
    "/security-groups/{id}",
  ],
  "load-balancer": ["/loadbalancers/{id}"],
  "key-manager": ["/secrets/{id}", "/containers/{id}"],
  "object-store": ["/{id}", "/{id}/{id}"],
  image: ["/images/{id}"],
  dns: ["/zones/{id}"],
  orchestration: ["/stacks/{id}/{id}"],
  "container-infrastructure-management": ["/clusters/{id}"],
};

/** Deletes a whole resource, or is the first call of such a deletion. */
export function isDeletion({ service, method, route, deletes = false }: DeletingCall): boolean {
  if (method !== "DELETE") return deletes && method !== "GET";
  return Object.hasOwn(WHOLE, service) && WHOLE[service]?.includes(route) === true;
}

/** Shown to tenants in conditions and events: it names no place of the operator. */
export function deletionsHeld({ service, method, route }: DeletingCall): CausewayError {
  return new CausewayError("CLOUD_DELETIONS_HELD", "Deletions are held by the operator (CLOUD_DELETIONS_HELD).", {
    details: { service, method, route },
  });
}
