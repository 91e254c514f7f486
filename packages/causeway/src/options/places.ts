/** Texts of the options that say which cloud and which cluster a command reads. */
export const CLOUD_TEXT = "entry of clouds.yaml (default: OS_CLOUD, or the only one)";
export const KUBECONFIG_TEXT = "of the cluster (default: KUBECONFIG, or ~/.kube/config)";
export const CLUSTER_NAME_TEXT = "what names in the cloud begin with, as the controller's --cluster-name";
