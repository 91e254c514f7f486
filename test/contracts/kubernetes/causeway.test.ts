/** What clients rely on in a Kubernetes API server, held against ours. kube-apiserver.contract.ts holds the real one to the same cases. */
import { startEmbedded } from "./embedded.ts";
import { holdToContract } from "./suite.ts";

holdToContract("causeway", startEmbedded);
