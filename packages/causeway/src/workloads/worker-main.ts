/*
 * What a worker process of `causeway` runs: the API of its clusters, and the workload controllers of those that have
 * them.
 */
import { enableCompileCache } from "node:module";
import { runWorker } from "@causeway/apiserver/worker";
import { authenticators } from "./authenticators.ts";
import { startWorkloads } from "./start.ts";

enableCompileCache();
// As in start.js.
Buffer.poolSize = 8 * 1024;
runWorker(startWorkloads, authenticators);
