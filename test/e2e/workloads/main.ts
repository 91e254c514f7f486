/**
 * Started by `npm run test:e2e:workloads`: the specs of Kubernetes' e2e suite that groups.ts names, with hollow nodes:
 * on kube-apiserver with kube-controller-manager and kube-scheduler, and on `causeway apiserver --controllers` alone.
 * Arguments: names of groups, "upstream" or "ours".
 */
import { playSetups } from "../api/play.ts";
import { ALONE, GROUPS } from "./groups.ts";

const groups = { groups: GROUPS, alone: ALONE };
process.exitCode = await playSetups([
  { name: "upstream", server: "kube-apiserver", controllers: "kubernetes", ...groups },
  { name: "ours", server: "causeway", controllers: "own", ...groups },
]);
