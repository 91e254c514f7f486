/**
 * `npm run test:e2e:workloads`: specs of Kubernetes' own e2e suite about workloads and scheduling, unchanged, with
 * hollow nodes: on kube-apiserver with kube-controller-manager and kube-scheduler, and on `causeway apiserver
 * --controllers`. Builds what it needs as test:e2e:api does. Arguments narrow the run: groups of
 * test/e2e/workloads/groups.ts, "upstream", "ours".
 */
import { runSuite } from "./e2e-suite.ts";
import { usageShown } from "./usage.ts";

process.exitCode = usageShown(import.meta.filename) ? 0 : await runSuite("test/e2e/workloads/main.ts");
