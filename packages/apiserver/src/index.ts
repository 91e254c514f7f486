export { startApiServer } from "./start.ts";
export type {
  ApiServer,
  ApiServerOptions,
  LogicalCluster,
  LogicalClusterOptions,
  StartApiServer,
} from "./interface.ts";
