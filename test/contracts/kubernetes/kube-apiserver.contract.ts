/**
 * What clients rely on in a Kubernetes API server, held against the real one. causeway.test.ts holds ours to the same
 * cases.
 */
import { startKubeApiserver } from "./kube-apiserver.ts";
import { holdToContract } from "./suite.ts";

holdToContract("kube-apiserver", startKubeApiserver);
