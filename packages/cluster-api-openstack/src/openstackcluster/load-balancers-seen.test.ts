import { describe, expect, it } from "vitest";
import { CausewayError } from "@causeway/foundation";
import type { Port } from "@causeway/openstack";
import { seesLoadBalancers } from "./load-balancers-seen.ts";

const own = new Set(["net-own"]);
const port = (network_id: string, device_owner: string, name = "") => ({ network_id, device_owner, name }) as Port;
const refusing = (code: string) => () => Promise.reject(new CausewayError(code, "GET load-balancer responded 403"));
const sees = (start: () => Promise<void>, ports: readonly Port[]) =>
  seesLoadBalancers(start, { list: () => [...ports] }, own);

describe("the load balancers that a deletion reads", () => {
  it("are seen when Octavia lists them", async () => {
    expect(await sees(() => Promise.resolve(), [])).toBe(true);
  });

  it("are none for a user whom Octavia refuses, when no port of one is on the cluster's networks", async () => {
    const others = [port("net-own", "compute:nova"), port("net-other", "Octavia"), port("net-own", "network:dhcp")];
    expect(await sees(refusing("OPENSTACK_FORBIDDEN"), others)).toBe(false);
  });

  it.each([
    ["by its owner", port("net-own", "Octavia")],
    ["by the name that Octavia gives", port("net-own", "", "octavia-lb-0815")],
    ["by the name that its OVN provider gives", port("net-own", "", "ovn-lb-vip-0815")],
  ])("are a refusal when there is a port of one, known %s", async (_, found) => {
    await expect(sees(refusing("OPENSTACK_FORBIDDEN"), [found])).rejects.toMatchObject({ code: "OPENSTACK_FORBIDDEN" });
  });

  it("are a failure when Octavia fails in another way", async () => {
    await expect(sees(refusing("OPENSTACK_UNREACHABLE"), [])).rejects.toMatchObject({ code: "OPENSTACK_UNREACHABLE" });
  });
});
