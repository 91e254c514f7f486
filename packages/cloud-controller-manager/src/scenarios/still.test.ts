import { expect, test } from "vitest";
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { ownWorlds } from "./own-world.ts";
import { os, pause } from "./stage.ts";

const start = ownWorlds();
const hour = 3_600_000;

test("while all is still, places and ports are not listed with all else; one that is missed is searched for at once", async () => {
  const { w, cloud } = await start({
    prefix: "c",
    servers: 1,
    intervals: { fast: 20, fastest: 20, slow: 100, rare: hour },
  });
  w.run({ provider: "ovn" });
  await w.joinAll();
  await w.createService("web");
  await w.served("web");
  await pause(500);
  const before = cloud.calls.length;
  await pause(1_000);
  const listed = new Set(cloud.calls.slice(before).map((call) => call.path.split("?")[0]?.split("/").at(-1)));
  expect(listed).toEqual(new Set(["detail", "floatingips", "listeners", "loadbalancers", "pools"]));

  const admin = connectCloud(loadCloudsYaml({ text: cloud.cloudsYaml, cloud: "simulator-admin" }));
  const [external] = await w.cloud.network.networks.all({ name: "public" });
  const network_id = external?.id ?? "";
  await admin.network.networks.update(network_id, { shared: true });
  await admin.network.subnets.create({ network_id, ip_version: 4, name: "later", cidr: "172.30.1.0/24" });
  await admin.close();
  await w.createService("other", {}, { [os("floating-subnet")]: "late?" });
  expect((await w.served("other")).status?.loadBalancer?.ingress?.[0]?.ip).toMatch(/^172\.30\.1\./);
});
