import { testCloud, type TestCloud } from "../testing/kernel.ts";
import type { KernelOptions } from "../kernel/kernel.ts";
import { createNetworkService, seedNetwork } from "./service.ts";

/** A cloud with the network service alone, seeded; for tests. */
export function networkCloud(options: KernelOptions = {}): TestCloud {
  return testCloud((kernel) => {
    const service = createNetworkService(kernel);
    seedNetwork(kernel, "admins");
    return [{ root: "/network", service }];
  }, options);
}

/** A response in a form that tests can read. */
export interface Answered {
  readonly status: number;
  /** Error type of Neutron, "" if it is no error. */
  readonly type: string;
  readonly message: string;
  /** The one resource of the response. */
  readonly one: Readonly<Record<string, unknown>>;
  /** Its id, "" if it has none. */
  readonly id: string;
  /** The resources of a list. */
  readonly list: readonly Readonly<Record<string, unknown>>[];
  readonly body: unknown;
}

/** Calls below /network/v2.0 as a project. */
export function neutron(cloud: TestCloud, who: string) {
  const call = cloud.as(who);
  return async (method: string, path: string, body?: unknown): Promise<Answered> => {
    const answer = await call(method, `/network/v2.0${path}`, body);
    const error = (answer.body as { NeutronError?: { type: string; message: string } } | undefined)?.NeutronError;
    const first: unknown = Object.values(answer.body ?? {})[0];
    const one = (Array.isArray(first) ? {} : first) as Answered["one"];
    return {
      status: answer.status,
      type: error?.type ?? "",
      message: error?.message ?? "",
      one,
      id: typeof one?.["id"] === "string" ? one["id"] : "",
      list: (Array.isArray(first) ? first : []) as Answered["list"],
      body: answer.body,
    };
  };
}

export type Neutron = ReturnType<typeof neutron>;

/** A network with one subnet, and optionally a router to the outside; returns ids. */
export async function place(call: Neutron, options: { cidr?: string; routed?: boolean } = {}) {
  const { id: network } = await call("POST", "/networks", { network: { name: "net" } });
  const given = { network_id: network, ip_version: 4, cidr: options.cidr ?? "10.0.0.0/24" };
  const { id: subnet } = await call("POST", "/subnets", { subnet: given });
  const external = String((await call("GET", "/networks?name=public")).list[0]?.["id"] as string);
  if (!options.routed) return { network, subnet, external, router: "" };
  const gateway = { external_gateway_info: { network_id: external } };
  const { id: router } = await call("POST", "/routers", { router: gateway });
  await call("PUT", `/routers/${router}/add_router_interface`, { subnet_id: subnet });
  return { network, subnet, external, router };
}
