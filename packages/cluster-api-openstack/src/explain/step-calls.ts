import { treeCall } from "@causeway/octavia-tree";
import type { ClusterStep } from "../openstackcluster/steps.ts";
import type { MachineStep } from "../openstackmachine/steps.ts";

/** One call that a step is made of, as the service's API reference names it. */
export interface PlannedCall {
  readonly service: "network" | "compute" | "block-storage" | "load-balancer" | "kubernetes";
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly route: string;
}

const call = (service: PlannedCall["service"], method: PlannedCall["method"], route: string): PlannedCall => ({
  service,
  method,
  route,
});
const object = (method: PlannedCall["method"], kind: string): PlannedCall[] => [
  call("kubernetes", method, method === "POST" ? `/${kind}` : `/${kind}/{name}`),
];
const neutron = (method: PlannedCall["method"], route: string) => call("network", method, route);
const octavia = (method: PlannedCall["method"], route: string) => call("load-balancer", method, route);

/** The calls of a cluster's step where none is refused and no response is lost. */
export function clusterStepCalls(step: ClusterStep): PlannedCall[] {
  switch (step.type) {
    case "add-finalizer":
    case "remove-finalizer":
    case "record-rules":
    case "record-contention":
    case "record-endpoint":
      return object("PATCH", "openstackclusters");
    case "check-names":
      return [neutron("GET", "/networks"), ...object("PATCH", "openstackclusters")];
    case "create-bastion":
      return object("POST", "openstackservers");
    case "record-bastion":
      return object("PATCH", "openstackservers");
    case "delete-bastion":
      return object("DELETE", "openstackservers");
    case "set-tags":
      return [neutron("PUT", `/${step.kind}/{id}/tags`)];
    case "create-rules":
      return [neutron("POST", "/security-group-rules")];
    case "delete-rule":
      return [neutron("DELETE", "/security-group-rules/{id}")];
    case "add-router-interface":
      return [neutron("PUT", "/routers/{id}/add_router_interface"), neutron("GET", "/ports")];
    case "remove-router-interface":
      return [neutron("PUT", "/routers/{id}/remove_router_interface")];
    case "remove-routes":
      return [neutron("PUT", "/routers/{id}/remove_extraroutes")];
    case "associate-floating-ip":
      return [neutron("PUT", "/floatingips/{id}")];
    case "change-load-balancer": {
      const { method, route } = treeCall(step.change.type);
      return [octavia(method, route)];
    }
    case "delete-load-balancer":
      return [octavia("DELETE", "/loadbalancers/{id}?cascade=true")];
    default:
      return [verbCall(step.type)];
  }
}

/** The calls of a machine's step where none is refused and no response is lost. */
export function machineStepCalls(step: MachineStep): PlannedCall[] {
  switch (step.type) {
    case "add-finalizer":
    case "remove-finalizer":
    case "record-provider-id":
      return object("PATCH", "openstackmachines");
    case "set-endpoint-hook":
      return object("PATCH", "machines");
    case "create-claim":
      return object("POST", "ipaddressclaims");
    case "delete-claim":
      return [...object("PATCH", "ipaddressclaims"), ...object("DELETE", "ipaddressclaims")];
    case "associate-floating-ip":
      return [neutron("PUT", "/floatingips/{id}")];
    case "set-port-tags":
      return [neutron("PUT", "/ports/{id}/tags")];
    case "add-subports":
      return [neutron("PUT", "/trunks/{id}/add_subports")];
    case "remove-subports":
      return [neutron("PUT", "/trunks/{id}/remove_subports")];
    case "attach-port":
      return [call("compute", "POST", "/servers/{id}/os-interface")];
    case "set-server-tags":
      return [call("compute", "PUT", "/servers/{id}/tags")];
    case "set-server-metadata":
      return [
        ...(Object.keys(step.set).length > 0 ? [call("compute", "POST", "/servers/{id}/metadata")] : []),
        ...step.remove.map(() => call("compute", "DELETE", "/servers/{id}/metadata/{key}")),
      ];
    case "create-trunk":
      return [neutron("POST", "/trunks"), ...(step.tags.length > 0 ? [neutron("PUT", "/trunks/{id}/tags")] : [])];
    case "delete-trunk": {
      const subports = step.subports.length > 0 ? [neutron("PUT", "/trunks/{id}/remove_subports")] : [];
      return [...subports, neutron("DELETE", "/trunks/{id}")];
    }
    default:
      return [verbCall(step.type)];
  }
}

const routes: Readonly<Record<string, readonly [PlannedCall["service"], string]>> = {
  network: ["network", "/networks"],
  subnet: ["network", "/subnets"],
  router: ["network", "/routers"],
  port: ["network", "/ports"],
  "security-group": ["network", "/security-groups"],
  "floating-ip": ["network", "/floatingips"],
  "load-balancer": ["load-balancer", "/loadbalancers"],
  server: ["compute", "/servers"],
  volume: ["block-storage", "/volumes"],
};
const verbs = { create: "POST", update: "PUT", delete: "DELETE" } as const;

/** "VERB-RESOURCE" is one call on the resource's route. */
function verbCall(name: string): PlannedCall {
  const at = name.indexOf("-");
  const verb = name.slice(0, at) as keyof typeof verbs;
  const [service, route] = routes[name.slice(at + 1)] ?? ["network", ""];
  return call(service, verbs[verb], verb === "create" ? route : `${route}/{id}`);
}
