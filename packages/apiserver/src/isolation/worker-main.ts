/* What a worker process runs. */
import { enableCompileCache } from "node:module";
import { runWorker } from "./worker.ts";

enableCompileCache();
runWorker();
