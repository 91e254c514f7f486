import { systemClock } from "@causeway/foundation";
import { createInformers } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml, watchCloud } from "@causeway/openstack";
import { expect, test } from "vitest";
import { defaultCloudConfig } from "../config/config.ts";
import { explainService } from "../service/explain.ts";
import { setStage } from "./stage.ts";

const stage = setStage(1);
const key = { namespace: "default", name: "web" };

async function explained() {
  const { w, cloud } = stage();
  const stopping = new AbortController();
  const connected = connectCloud(loadCloudsYaml({ text: cloud.cloudsYaml, cloud: "simulator" }));
  const watch = watchCloud(connected);
  const informers = createInformers(w.client);
  const running = informers.run(stopping.signal);
  const config = defaultCloudConfig();
  const options = { informers, cloud: connected, watch, config, clusterName: "c", clock: systemClock };
  const answer = await explainService(options, key, stopping.signal);
  stopping.abort();
  await running;
  await watch.close();
  await connected.close();
  return answer;
}

test("what a reconcile would do is told and not done", async () => {
  const { w, writes, run } = stage();
  expect(await explained()).toBeUndefined();
  await w.createService("web");
  writes();
  const fresh = await explained();
  expect(fresh?.steps.map(({ step }) => step.type)).toEqual(["add-finalizer"]);
  expect(writes()).toEqual([]);
  run();
  await w.served("web");
  const still = await explained();
  expect(still?.steps).toEqual([]);
  expect(still?.wait).toBeUndefined();
});
