import { testCloud, type TestCloud } from "../testing/kernel.ts";
import type { KernelOptions } from "../kernel/kernel.ts";
import { createNetworkService, seedNetwork } from "../network/service.ts";
import { createLoadBalancingService } from "./service.ts";

/** A cloud with Neutron and Octavia alone, seeded; for tests. */
export function balancerCloud(options: KernelOptions = {}): TestCloud {
  return testCloud((kernel) => {
    const network = createNetworkService(kernel);
    seedNetwork(kernel, "admins");
    const loadBalancing = createLoadBalancingService(kernel, network);
    return [
      { root: "/network", service: network },
      { root: "/load-balancer", service: loadBalancing },
    ];
  }, options);
}

type Json = Readonly<Record<string, unknown>>;

/** Calls below /load-balancer/v2/lbaas, or /octavia for amphorae, as a project. */
export function octavia(cloud: TestCloud, who: string) {
  const call = cloud.as(who);
  return async (method: string, path: string, body?: unknown) => {
    const root = path.startsWith("/amphorae") ? "octavia" : "lbaas";
    const answer = await call(method, `/load-balancer/v2/${root}${path}`, body);
    const json = (answer.body ?? {}) as Json;
    const one = Object.values(json)[0];
    return {
      status: answer.status,
      fault: json["faultstring"],
      one: one as Json,
      list: one as readonly Json[],
      id: String((one as Json | undefined)?.["id"] as string),
    };
  };
}
export type Octavia = ReturnType<typeof octavia>;

/** Lets everything due in an instant cloud happen. */
export const settle = () => new Promise<void>((resolve) => setTimeout(resolve, 2));
