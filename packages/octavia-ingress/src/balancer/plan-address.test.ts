import { expect, test } from "vitest";
import type { LoadBalancer } from "@causeway/openstack";
import { ingressOwner } from "../names.ts";
import { emptyBalancer, floatingIp } from "../testing/observed.ts";
import type { ObservedBalancer, WantedAddress } from "./balancer.ts";
import { planAddress } from "./plan-address.ts";

const OWNER = ingressOwner("c", { namespace: "n", name: "web", uid: "u" });
const OTHER = ingressOwner("c", { namespace: "other", name: "web", uid: "o" });
const ours = floatingIp(OWNER);
const free = floatingIp(OWNER, { id: "free", port_id: null });
const users = floatingIp(OWNER, { id: "users", description: "mine", floating_ip_address: "203.0.113.9" });
const lb = (vip: string) => ({ vip_port_id: "port", vip_address: vip }) as LoadBalancer;

interface Row {
  readonly says: string;
  readonly wanted?: Partial<WantedAddress>;
  readonly now?: Partial<ObservedBalancer>;
  readonly vip?: string;
  readonly steps: readonly string[];
  readonly address?: string;
  readonly failure?: string;
}

const rows: readonly Row[] = [
  { says: "a public load balancer without a floating IP gets one", steps: ["create-floating-ip"] },
  { says: "one of ours that is free is used first", now: { own: [free] }, steps: ["attach-floating-ip free"] },
  {
    says: "the address that it has remains",
    now: { floatingIp: ours, own: [ours] },
    steps: [],
    address: "203.0.113.5",
  },
  {
    says: "a second one of ours that serves no client is deleted",
    now: { floatingIp: ours, own: [ours, free] },
    steps: ["delete-floating-ip free"],
    address: "203.0.113.5",
  },
  {
    says: "a second one of ours that is in use remains",
    now: { floatingIp: ours, own: [ours, floatingIp(OWNER, { id: "used", port_id: "theirs" })] },
    steps: [],
    address: "203.0.113.5",
  },
  {
    says: "a named address that it has already remains, whatever its description",
    wanted: { address: "203.0.113.9" },
    now: { floatingIp: users, named: users },
    steps: [],
    address: "203.0.113.9",
  },
  {
    says: "a named address takes the place of a user's, which is not deleted",
    wanted: { address: "203.0.113.7" },
    now: { named: floatingIp(OWNER, { id: "named", port_id: null }), floatingIp: users },
    steps: ["detach-floating-ip users"],
    address: "203.0.113.9",
  },
  {
    says: "a second one of ours remains where addresses are to be kept",
    wanted: { keep: true },
    now: { floatingIp: ours, own: [ours, free] },
    steps: [],
    address: "203.0.113.5",
  },
  { says: "an internal one has its VIP", wanted: { internal: true }, steps: [], address: "10.0.0.5" },
  {
    says: "one that becomes internal gives ours up",
    wanted: { internal: true },
    now: { floatingIp: ours },
    steps: ["delete-floating-ip fip"],
    address: "10.0.0.5",
  },
  {
    says: "one that becomes internal leaves a user's address where it is",
    wanted: { internal: true },
    now: { floatingIp: users },
    steps: [],
    address: "10.0.0.5",
  },
  { says: "a VIP of IPv6 has no floating IP", vip: "2001:db8::5", steps: [], address: "2001:db8::5" },
  {
    says: "without a network for floating IPs clients use the VIP",
    wanted: { networkId: undefined },
    steps: [],
    address: "10.0.0.5",
  },
  {
    says: "a named address is attached",
    wanted: { address: "203.0.113.9" },
    now: { named: { ...users, port_id: null } },
    steps: ["attach-floating-ip users"],
  },
  {
    says: "a named address takes the place of ours only when it can",
    wanted: { address: "203.0.113.9" },
    now: { named: { ...users, port_id: null }, floatingIp: ours },
    steps: ["delete-floating-ip fip"],
    address: "203.0.113.5",
  },
  {
    says: "a named address that does not exist keeps what there is",
    wanted: { address: "203.0.113.9" },
    now: { floatingIp: ours },
    steps: [],
    address: "203.0.113.5",
    failure: "there is no floating IP 203.0.113.9",
  },
  {
    says: "a named address of another port is not used",
    wanted: { address: "203.0.113.9" },
    now: { named: { ...users, port_id: "theirs" } },
    steps: [],
    failure: "already used by port theirs",
  },
  {
    says: "a named address of another namespace is not used, though it is free",
    wanted: { address: "203.0.113.9" },
    now: { named: { ...users, port_id: null, description: OTHER.floatingIpDescription } },
    steps: [],
    failure: "belongs to namespace other",
  },
];

test("a second one of ours is deleted only while it is free", () => {
  const wanted = { internal: false, networkId: "public", address: undefined, keep: false };
  const { steps } = planAddress(
    wanted,
    { ...emptyBalancer(OWNER), floatingIp: ours, own: [ours, free] },
    lb("10.0.0.5"),
  );
  expect(steps).toEqual([{ type: "delete-floating-ip", id: "free", onlyFree: true }]);
});

test.each(rows)("$says", ({ wanted, now, vip = "10.0.0.5", steps, address, failure }) => {
  const all = { internal: false, networkId: "public", address: undefined, keep: false, ...wanted };
  const planned = planAddress(all, { ...emptyBalancer(OWNER), ...now }, lb(vip));
  expect(planned.steps.map((step) => ["id" in step ? `${step.type} ${step.id}` : step.type][0])).toEqual(steps);
  expect(planned.address).toBe(address);
  if (failure === undefined) expect(planned.failure).toBeUndefined();
  else expect(planned.failure).toContain(failure);
});
