import { Option } from "@commander-js/extra-typings";

/** Text of the option that gives the prefix of names in the cloud. */
export const CLUSTER_NAME_TEXT = "prefix of names in the cloud, as the controller's --cluster-name";

const CLOUD_TEXT =
  "entry of clouds.yaml, or envvars (default: OS_CLOUD, else OS_AUTH_URL and the variables of an openrc file, else the only entry)";

/** The options that say which cloud a command reads; `chosenCloud` takes what they gave. */
export const cloudOptions = {
  cloud: (text = CLOUD_TEXT) => new Option("--cloud, --os-cloud <name>", text),
  insecure: () => new Option("--insecure", "do not verify the certificates of the cloud").default(false),
  cacert: () => new Option("--cacert <file>", "authorities to trust for the cloud, PEM"),
};

/** The options that say which cluster a command reads; `chosenCluster` takes what they gave. */
export const clusterOptions = {
  kubeconfig: (text = "of the cluster (default: KUBECONFIG, or ~/.kube/config)") =>
    new Option("--kubeconfig <file>", text),
  context: () => new Option("--context <name>", "context of the kubeconfig (default: its current one)"),
};
