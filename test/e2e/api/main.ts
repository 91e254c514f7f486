/**
 * Started by `npm run test:e2e:api`: the specs of Kubernetes' e2e suite that groups.ts names, on kube-apiserver with
 * etcd and on `causeway apiserver`, each with Kubernetes' own controllers, scheduler and hollow nodes. Arguments: names
 * of groups or of a server.
 */
import { GROUPS } from "./groups.ts";
import { playSetups } from "./play.ts";

process.exitCode = await playSetups(
  (["kube-apiserver", "causeway"] as const).map((server) => {
    return { name: server, server, controllers: "kubernetes", groups: GROUPS };
  }),
);
