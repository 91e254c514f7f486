import fc from "fast-check";
import { expect, test } from "vitest";
import { keyOf, type ObjectKey } from "@causeway/kubernetes";
import { Gateway, HTTPRoute, type Route } from "../objects/gateway.ts";
import { idOf, ReferenceIndex, word } from "./reference-index.ts";
import { gatewayReferences, parentKeys, routeReferences } from "./references-of.ts";

const group = "gateway.networking.k8s.io/v1";

function route(name: string, namespace: string, gateway: string, backends: readonly Partial<ObjectKey>[]): Route {
  const backendRefs = backends.map(({ name: of = "", namespace: there }) => ({
    name: of,
    port: 80,
    ...(there === undefined ? {} : { namespace: there }),
  }));
  return {
    apiVersion: group,
    kind: HTTPRoute.kind,
    metadata: { name, namespace, uid: name },
    spec: { parentRefs: [{ name: gateway, namespace: "infra" }], rules: [{ backendRefs }] },
  };
}

function gateway(name: string, secret: ObjectKey): Gateway {
  const tls = { certificateRefs: [secret] };
  return {
    apiVersion: group,
    kind: Gateway.kind,
    metadata: { name, namespace: "infra", uid: name },
    spec: { gatewayClassName: "octavia", listeners: [{ name: "https", port: 443, protocol: "HTTPS", tls }] },
  };
}

/** 50 Gateways with a Secret and 20 routes each; each route has a Service of its own. */
function world() {
  const routes = new ReferenceIndex<Route>(routeReferences);
  const gateways = new ReferenceIndex<Gateway>((each) => gatewayReferences("c", each));
  for (let i = 0; i < 50; i += 1) {
    const made = gateway(`g${i}`, { namespace: i === 7 ? "certs" : "infra", name: `s${i}` });
    gateways.set(idOf(made), made);
    for (let j = 0; j < 20; j += 1) {
      const one = route(`r${i}-${j}`, `team-${i}`, `g${i}`, [
        { name: `svc-${j}`, ...(i === 9 && j === 0 ? { namespace: "shared" } : {}) },
      ]);
      routes.set(idOf(one), one);
    }
  }
  const woken = (text: string) =>
    [...new Set([...gateways.of(text).map(keyOf), ...routes.of(text).flatMap(parentKeys)].map((k) => k.name))].sort();
  return { routes, gateways, woken };
}

test.each([
  ["a Service of one route", word("Service", { namespace: "team-3", name: "svc-4" }), ["g3"]],
  ["a Service that no route names", word("Service", { namespace: "team-3", name: "other" }), []],
  ["a Service of another namespace", word("Service", { namespace: "shared", name: "svc-0" }), ["g9"]],
  ["a Secret of one listener", word("Secret", { namespace: "infra", name: "s5" }), ["g5"]],
  ["a Secret that no listener names", word("Secret", { namespace: "infra", name: "other" }), []],
  ["a grant for Secrets", word("Grants", { namespace: "certs", name: "" }), ["g7"]],
  ["a grant for Services", word("Grants", { namespace: "shared", name: "" }), ["g9"]],
  ["a grant of a namespace that needs none", word("Grants", { namespace: "team-3", name: "" }), []],
  ["the labels of one namespace", word("Namespace", { namespace: "", name: "team-3" }), ["g3"]],
  ["a load balancer", "Balancer kube_gateway_c_infra_g8", ["g8"]],
])("of 50 Gateways with 1,000 routes a change of %s wakes those that refer to it", (_, text, names) => {
  expect(world().woken(text)).toEqual(names);
});

test("a change of a class wakes all Gateways of it", () => {
  expect(world().woken(word("GatewayClass", { namespace: "", name: "octavia" }))).toHaveLength(50);
});

test("the index finds what a search through all objects finds, whatever came, changed and went", () => {
  const names = fc.subarray(["a", "b", "c", "d"]);
  const change = fc.tuple(fc.constantFrom("x", "y", "z"), fc.option(names, { nil: undefined }));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const index = new ReferenceIndex<Route>(routeReferences);
      const now = new Map<string, Route>();
      for (const [name, services] of changes) {
        const made =
          services &&
          route(
            name,
            "n",
            "g",
            services.map((each) => ({ name: each })),
          );
        if (made) now.set(name, made);
        else now.delete(name);
        index.set(name, made);
      }
      for (const name of ["a", "b", "c", "d"]) {
        const text = word("Service", { namespace: "n", name });
        const should = [...now.values()].filter((each) => routeReferences(each).includes(text));
        expect(new Set(index.of(text))).toEqual(new Set(should));
      }
    }),
    { numRuns: 100 },
  );
});
