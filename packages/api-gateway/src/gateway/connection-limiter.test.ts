import { expect, test } from "vitest";
import { ConnectionLimiter, type Held } from "./connection-limiter.ts";

/** Connections of one tenant from addresses; which were admitted, and which were ended for others. */
function world(limits: { total: number; perTenant: number }) {
  const limiter = new ConnectionLimiter({ ...limits, pending: 10 });
  const ended: string[] = [];
  const connect = (name: string, source: string, tenant = "a"): string => {
    const held: Held = {
      end(reason) {
        ended.push(`${name} (${reason})`);
        limiter.leave(tenant, source, held);
      },
    };
    const admission = limiter.admit(tenant, source, held);
    return admission.admitted ? "admitted" : admission.reason;
  };
  return { limiter, ended, connect };
}

test("a client whose tenant is full comes in at the cost of the address with the most connections", () => {
  const { limiter, ended, connect } = world({ total: 100, perTenant: 4 });
  for (const name of ["w", "x", "y", "z"]) expect(connect(name, "attacker")).toBe("admitted");
  expect(connect("kubectl", "user")).toBe("admitted");
  expect(ended).toEqual(["z (tenant)"]);
  expect(connect("more", "attacker")).toBe("tenant");
  expect(connect("kubelet", "node")).toBe("admitted");
  expect(ended).toEqual(["z (tenant)", "y (tenant)"]);
  expect(limiter.total).toBe(4);
});

test("the next connection is refused, and none is ended, where all addresses have as few", () => {
  const { ended, connect } = world({ total: 100, perTenant: 2 });
  expect([connect("x", "one"), connect("y", "two"), connect("z", "three")]).toEqual(["admitted", "admitted", "tenant"]);
  expect(ended).toEqual([]);
});

test("other tenants lose nothing to one that is full, and all together have their own limit", () => {
  const { limiter, ended, connect } = world({ total: 4, perTenant: 3 });
  for (const name of ["x", "y", "z"]) connect(name, "attacker");
  expect([connect("b1", "user", "b"), connect("b2", "user", "b")]).toEqual(["admitted", "admitted"]);
  expect(ended).toEqual(["z (total)"]);
  expect([...limiter.tenants()]).toEqual([
    ["a", 2],
    ["b", 2],
  ]);
});
