import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { ConfigMap } from "@causeway/kubernetes";
import { annotation, CLASS_CONTROLLER } from "../names.ts";
import { Ingress, IngressClass } from "../objects/ingress.ts";
import { IngressWorld, to } from "../testing/world.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
let w: IngressWorld;

beforeAll(async () => {
  w = await IngressWorld.start();
  for (const [i, name] of ["one", "two", "three"].entries()) await w.service(name, 30_001 + i);
});
afterEach(async () => {
  await w.clear();
  await w.stopAll();
  expect(await w.left()).toEqual([]);
});
afterAll(() => w.close());

const both = (port: number): string => `10.88.0.10:${port},10.88.0.11:${port}`;

describe("Ingresses of a class", () => {
  const className = "shared";
  const name = "kube_ingressclass_c_shared";
  const key = { namespace: "", name: className };
  const map = { namespace: "default", name: className };
  const of = (host: string, ...list: ReturnType<typeof to>[]) => ({
    ingressClassName: className,
    rules: [{ host, http: { paths: list } }],
  });
  const createClass = () => {
    const parameters = { kind: "ConfigMap", name: className, scope: "Namespace", namespace: "default" };
    const spec = { controller: CLASS_CONTROLLER, parameters };
    const metadata = { name: className };
    return w.client.create(IngressClass, {
      apiVersion: "networking.k8s.io/v1",
      kind: "IngressClass",
      metadata,
      spec,
    });
  };

  beforeEach(async () => {
    const data = { "load-balancer": "shared" };
    await w.client.create(ConfigMap, { apiVersion: "v1", kind: "ConfigMap", metadata: map, data });
    await createClass();
    w.run();
  });
  afterEach(async () => {
    await w.clear();
    await w.until("nothing left", async () => (await w.left()).length === 0);
    await w.client.delete(IngressClass, key);
    await w.client.delete(ConfigMap, map);
  });

  test("share one load balancer where the class's parameters say so, and the last one's end deletes it", async () => {
    await w.ingress("web", of("a.example", to("one")));
    await w.ingress("shop", of("b.example", to("two")));
    const address = await w.address("web");
    await w.until("the same address", async () => (await w.address("shop")) === address);
    await w.until("both routes", async () => (await w.routes(name)).length === 2);
    expect(await w.cloud.loadBalancing.loadBalancers.all()).toHaveLength(1);
    await w.client.delete(Ingress, { namespace: "default", name: "shop" });
    await w.until(
      "one route",
      async () => (await w.routes(name)).join() === String.raw`/ ^a\.example(:80)?$ -> ${both(30_001)}`,
    );
  });

  // Objects of the same second are ordered by name.
  test("keep a path from a younger one that writes it in another way", async () => {
    await w.ingress("web", of("a.example", to("one", "/foo")));
    await w.address("web");
    await w.ingress("younger", of("a.example", to("two", "/foo/"), to("two", "/bar")));
    const routes = await w.until("the younger one's own path", async () => {
      const served = await w.routes(name);
      return served.length === 2 && served;
    });
    expect(routes.filter((route) => route.includes("/foo"))).toEqual([
      String.raw`^/foo(/.*)?$ ^a\.example(:80)?$ -> ${both(30_001)}`,
    ]);
    const warned = await w.until("a warning", async () => (await w.events({ name: "younger" }, "Failed"))[0]);
    expect(warned).toContain(
      "default/younger: a.example/foo/ is already served by an earlier rule of the same load balancer",
    );
  });

  test("are served while a younger one's annotation cannot be read, which says so itself", async () => {
    await w.ingress("web", of("a.example", to("one")));
    await w.address("web");
    await w.ingress("wrong", of("b.example", to("two")), { annotations: { [annotation.internal]: "maybe" } });
    await w.until("both routes", async () => (await w.routes(name)).length === 2);
    const warned = await w.until("a warning", async () => (await w.events({ name: "wrong" }, "Failed"))[0]);
    expect(warned).toContain("default/wrong: annotation ");
  });

  test.each(["fd00::/8", "10.1.2.3/8"])(
    "are served though an older one, of another tenant, limits clients to %s",
    async (range) => {
      await w.ingress("older", of("a.example", to("one")), { annotations: { [annotation.sourceRanges]: range } });
      await w.ingress("younger", of("b.example", to("two")));
      await w.address("younger");
      const writes = () =>
        w.simulator.calls.filter(({ method, path }) => method === "PUT" && /listeners/.test(path)).length;
      const before = writes();
      if (range === "fd00::/8") {
        // Other warnings may come before it.
        const text = "fd00::/8 is not of IPv4, as the VIP is; it is not used";
        await w.until("the warning", async () =>
          (await w.events({ name: "older" }, "Failed")).some((message) => message.includes(text)),
        );
      }
      await w.until("both routes", async () => (await w.routes(name)).length === 2);
      expect(writes() - before).toBeLessThanOrEqual(1);
      const refused = w.simulator.calls.filter(({ status }) => status === 400);
      expect(refused).toEqual([]);
    },
  );

  test("remain served while the class's parameters cannot be read, and while the class is installed again", async () => {
    await w.ingress("web", of("a.example", to("one")));
    const address = await w.address("web");
    const patch = (data: object) => w.client.patch(ConfigMap, map, { type: "merge", body: { data } });
    await patch({ "load-balancer": "Shared" });
    const said = async (text: string) => (await w.events({ name: className }, "Failed")).some((m) => m.includes(text));
    await w.until("a warning", () => said("load-balancer is Shared; it may be own or shared"));
    await patch({ "load-balancer": "shared" });
    await w.client.delete(IngressClass, key);
    await createClass();
    await w.ingress("shop", of("b.example", to("two")));
    await w.until("both routes", async () => (await w.routes(name)).length === 2);
    expect(await w.address("web")).toBe(address);
    expect((await w.cloud.loadBalancing.loadBalancers.all()).map((lb) => lb.vip_address)).toEqual([address]);
  });

  test("keep what they share while their class is gone, and take it with them when the last of them goes", async () => {
    await w.ingress("web", of("a.example", to("one")));
    await w.ingress("shop", of("b.example", to("two")));
    await w.address("shop");
    await w.until("both routes", async () => (await w.routes(name)).length === 2);
    await w.client.delete(IngressClass, key);
    await w.client.delete(Ingress, { namespace: "default", name: "shop" });
    await w.until(
      "the Ingress is gone",
      async () => !(await w.client.find(Ingress, { namespace: "default", name: "shop" })),
    );
    expect(await w.routes(name)).toHaveLength(2);
    await w.client.delete(Ingress, { namespace: "default", name: "web" });
    await w.until(
      "the Ingress is gone",
      async () => !(await w.client.find(Ingress, { namespace: "default", name: "web" })),
    );
    expect(await w.left()).toEqual([]);
    await createClass();
  });

  test("leave nothing when they moved to another class while the program was stopped and theirs was deleted", async () => {
    await w.ingress("web", of("a.example", to("one")));
    await w.address("web");
    await w.until("a record of the class", async () => (await w.recordedClasses()).includes(className));
    await w.stopAll();
    await w.client.delete(IngressClass, key);
    const move = { spec: { ingressClassName: "of-another" } };
    await w.client.patch(Ingress, { namespace: "default", name: "web" }, { type: "merge", body: move });
    w.run();
    await w.until("an empty cloud", async () => (await w.left()).length === 0);
    await w.until("an empty record", async () => (await w.recordedClasses()).length === 0);
    await w.client.delete(Ingress, { namespace: "default", name: "web" });
    await createClass();
  });

  test("take what they share with them though the program starts after their class is gone", async () => {
    await w.ingress("web", of("a.example", to("one")));
    await w.address("web");
    await w.stopAll();
    await w.client.delete(IngressClass, key);
    await w.client.delete(Ingress, { namespace: "default", name: "web" });
    w.run();
    await w.until(
      "the Ingress is gone",
      async () => !(await w.client.find(Ingress, { namespace: "default", name: "web" })),
    );
    expect(await w.left()).toEqual([]);
    await createClass();
  });
});
