export { createAddons, type AddonsOptions } from "./addonset/controller.ts";
export type { Dial } from "./health/prober.ts";
export { cinderCsiNodeObjects } from "./catalogue/cinder-csi-node.ts";
export { builtIn, factsOf } from "./catalogue/catalogue.ts";
export type { ClusterFacts } from "./catalogue/facts.ts";
