/**
 * `npm run test:e2e:api`: specs of Kubernetes' own e2e suite about the API, unchanged, on kube-apiserver with etcd and
 * on ours, each with Kubernetes' own controllers, scheduler and hollow nodes. Builds them with Go at first, from
 * tools/kubernetes, into the user's cache directory. Arguments narrow the run: groups of test/e2e/api/groups.ts,
 * "causeway", "kube-apiserver".
 */
import { runSuite } from "./e2e-suite.ts";
import { usageShown } from "./usage.ts";

process.exitCode = usageShown(import.meta.filename) ? 0 : await runSuite("test/e2e/api/main.ts");
