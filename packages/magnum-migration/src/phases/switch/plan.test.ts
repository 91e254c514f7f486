/** What the phase switch reports: to operators, and to users of the project. */
import { describe, expect, test } from "vitest";
import { member, record } from "../../testing/planned.ts";
import { planSwitch, type SwitchFacts } from "./plan.ts";

const own = member("causeway-web-1", "192.0.2.1", 40001);
const old = member("m0", "10.0.0.4");
const switched: SwitchFacts = {
  wantedStage: "Serve",
  isAvailable: true,
  message: "",
  apiAddress: "192.0.2.1:40001",
  uid: "x",
  hostedUid: "x",
  kubelets: [],
  services: [],
  acceptsUnreachable: false,
  isPoolBusy: false,
  members: [own],
  masters: [{ name: "m0", address: "10.0.0.4", active: [] }],
  hasEndpoints: true,
  leases: [{ name: "kube-scheduler", holder: "h", isFresh: true }],
};
const planned = (changes: Partial<SwitchFacts>) => planSwitch({ ...switched, ...changes }, record);

test("a problem of the hosted control plane is its operator's alone", () => {
  const message = "etcd-0 of pod tenants/web-0 at 10.20.0.7:2379 is not ready";
  const { wait, publicWait } = planned({ isAvailable: false, message });
  expect(wait).toBe(`HostedControlPlane magnum-p/web-1 to be available: ${message}`);
  expect(publicWait).toBe("the hosted control plane to be available");
});

test("both API servers have to respond before they are compared", () => {
  for (const changes of [{ uid: undefined }, { hostedUid: undefined }, { uid: undefined, hostedUid: undefined }])
    expect(planned(changes)).toEqual({ steps: [], wait: "both API servers to respond", proof: [] });
});

test("our member of the pool is the one with the hosted address and port", () => {
  const otherPort = member("m0", "192.0.2.1", 6443);
  const otherHost = member("m1", "10.0.0.4", 40001);
  expect(planned({ members: [otherPort, otherHost] }).steps).toMatchObject([
    { type: "add-pool-member", address: "192.0.2.1", port: 40001 },
  ]);
  expect(planned({ members: [otherPort, own] }).steps).toMatchObject([{ type: "remove-pool-member", id: "m-m0" }]);
});

describe("a step of the phase switch", () => {
  test.each<[string, Partial<SwitchFacts>]>([
    ["start the API server and controllers of HostedControlPlane magnum-p/web-1", { wantedStage: "Follow" }],
    ["add 192.0.2.1:40001 to pool pool of the API's load balancer", { members: [old] }],
    ["remove 10.0.0.4:6443 from the API's load balancer", { members: [old, own] }],
    [
      "stop kube-apiserver, kube-scheduler on m0 (a)",
      { masters: [{ name: "m0", address: "a", active: ["kube-apiserver", "kube-scheduler"] }] },
    ],
    ["have Service default/kubernetes lead to the load balancer", { hasEndpoints: false }],
  ])("says: %s", (what, changes) => expect(planned(changes).steps.map((step) => step.what)).toEqual([what]));
});

describe("a refusal of the phase switch", () => {
  const kubelet = { node: "n0", problem: "connection refused", isUnreachable: false };
  const service = { namespace: "policy", name: "hook", port: 443, problem: "timeout", isUnreachable: false };

  test.each<[string, Partial<SwitchFacts>, RegExp]>([
    ["another cluster's data", { hostedUid: "y" }, /^Run rollback, and compare the URLs of etcd's members\.$/],
    ["kubelets", { kubelets: [kubelet] }, /^Open port 10250 .* then run switch again\. Nothing was switched\.$/],
    [
      "webhooks",
      { services: [{ ...service, users: ["webhook a"] }] },
      /^Have a tunnel agent .* Nothing was switched\. With --accept-unreachable/,
    ],
  ])("because of %s says what to do", (_, changes, hint) => expect(planned(changes).refused?.hint).toMatch(hint));

  test("names up to five users of a Service, and up to five Services, and counts the others", () => {
    const users = ["a", "b", "c", "d", "e", "f", "g"];
    const message = (count: number, services = 1) =>
      planned({ services: Array.from({ length: services }, () => ({ ...service, users: users.slice(0, count) })) })
        .refused?.message;
    expect(message(5)).toMatch(/: Service policy\/hook:443 of a, b, c, d, e: timeout$/);
    expect(message(7)).toMatch(/: Service policy\/hook:443 of a, b, c, d, e and 2 more: timeout$/);
    expect(message(1, 5)).toMatch(/5 Services .*a: timeout$/);
    expect(message(1, 6)).toMatch(/6 Services .*a: timeout; and 1 more$/);
  });
});
