import assert from "node:assert/strict";
import { until } from "../watch/until.ts";
import { watchCloud } from "../watch/watch.ts";
import { makeServer } from "./server-cases.ts";
import { makeSubnet, type ContractCase } from "./case.ts";

/** What our informers rely on of the services' lists. */
export const watchCases: readonly ContractCase[] = [
  {
    name: "informers hold the project's resources, external networks included, for one call per type",
    async run(context) {
      const { cloud, clock } = context;
      await cloud.compute.servers.all();
      await cloud.blockStorage.volumes.all();
      const watch = watchCloud(cloud, { clock });
      context.cleanup(() => watch.close());
      const informers = Object.values(watch).filter((value) => typeof value === "object");
      const before = cloud.stats().byRoute;
      await Promise.all(informers.map((informer) => informer.start()));
      // An informer that began early may poll again before the last has begun, while something is in transition.
      const asked = Object.entries(cloud.stats().byRoute).filter(([route, count]) => count > (before[route] ?? 0));
      assert.equal(asked.length, informers.length, JSON.stringify(asked));
      assert.equal(watch.networks.byIndex("name", context.externalNetwork).length, 1);
      assert.ok(watch.images.byIndex("name", context.image).length > 0);
      assert.ok(watch.securityGroups.byIndex("name", "default").length > 0);
    },
  },
  {
    name: "informers see a server and its port created and deleted",
    async run(context) {
      const { cloud, clock } = context;
      const watch = watchCloud(cloud, { clock });
      context.cleanup(() => watch.close());
      await Promise.all([watch.servers.start(), watch.ports.start()]);
      const seen: string[] = [];
      watch.servers.onChange(({ type, object }) => seen.push(`${type} ${object.id} ${object.status}`));
      const { server, port } = await makeServer(context);
      watch.servers.observe(server);
      watch.ports.observe(port);
      await until(watch.servers, server.id, (s) => s?.status === "ACTIVE", { clock });
      await until(watch.ports, port.id, (p) => p?.status === "ACTIVE", { clock });
      assert.deepEqual(
        watch.ports.byIndex("device", server.id).map((p) => p.id),
        [port.id],
      );
      assert.deepEqual(
        watch.servers.byIndex("tag", context.name("tag")).map((s) => s.id),
        [server.id],
      );
      await cloud.compute.servers.delete(server.id);
      await until(watch.servers, server.id, (s) => s === undefined, { clock });
      const its = seen.filter((line) => line.includes(server.id));
      assert.equal(its[0], `added ${server.id} BUILD`);
      assert.match(its.at(-1) ?? "", /^deleted /);
    },
  },
  {
    name: "an informer shows its own writes at once, and those of other clients after a refresh",
    async run(context) {
      const { cloud, clock } = context;
      const watch = watchCloud(cloud, { clock });
      context.cleanup(() => watch.close());
      await watch.ports.start();
      const subnet = await makeSubnet(context);
      const port = await cloud.network.ports.create({ name: context.name("p"), network_id: subnet.network_id });
      context.cleanup(() => cloud.network.ports.delete(port.id));
      assert.equal(watch.ports.get(port.id), undefined);
      await watch.ports.refresh();
      assert.equal(watch.ports.byIndex("name", context.name("p"))[0]?.id, port.id);
      await cloud.network.ports.delete(port.id);
      watch.ports.forget(port.id);
      assert.equal(watch.ports.get(port.id), undefined);
      await watch.ports.refresh();
      assert.equal(watch.ports.get(port.id), undefined);
    },
  },
];
