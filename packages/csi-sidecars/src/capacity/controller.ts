import {
  CSIDriver,
  CSINode,
  runPipeline,
  Node,
  StorageClass,
  watchInformer,
  type ControllerOptions,
  type Pipeline,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { gather, type Caches, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/**
 * What csi-provisioner does with --enable-capacity, for clusters whose CSIDriver has storageCapacity. The only key is
 * the driver's.
 */
export function capacityController(context: Context): ControllerOptions {
  const { clock, log, informers, driver } = context;
  const drivers = informers.for(CSIDriver);
  const classes = informers.for(StorageClass);
  const nodes = informers.for(Node);
  const csiNodes = informers.for(CSINode);
  const places: Caches["places"] = new WeakMap();
  const caches = { driver, client: informers.client, drivers, classes, nodes, csiNodes, places, log };
  const pipeline: Pipeline<Observed, Step, undefined> = {
    gather: (key, signal) => gather(caches, key, signal),
    plan,
    perform: (step, _observed, signal) => perform(context, step, signal),
    publish: () => Promise.resolve(),
    failed: () => ({ status: undefined, events: [] }),
  };
  const only = () => [{ namespace: "", name: driver.name }];
  return {
    name: "csi-capacity",
    reconcile: runPipeline(pipeline, { clock, log, name: "csi-capacity", maxRounds: 2 }),
    sources: [watchInformer(drivers, only), watchInformer(classes, only), watchInformer(csiNodes, only)],
    ready: (signal) =>
      Promise.all([drivers, classes, nodes, csiNodes].map((each) => each.whenSynced(signal))).then(() => {}),
    concurrency: 1,
    clock,
    log,
  };
}
