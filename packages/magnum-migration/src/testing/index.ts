export { makeHeatCluster, type HeatCluster, type HeatClusterOptions } from "./heat-cluster.ts";
export { makeSwitched, type SwitchedOptions } from "./switched.ts";
