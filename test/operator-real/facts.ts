/** What a machine of the rig needs to know. */
export interface MachineFacts {
  readonly name: string;
  /** Its address in the network of the nodes. */
  readonly address: string;
  /** The folder that is its disk. */
  readonly disk: string;
  readonly cgroup: string;
  readonly kubeconfig: string;
  /** The root certificate of the cluster. */
  readonly authority: string;
  /** A folder with the kubelet, kube-proxy and CoreDNS. */
  readonly programs: string;
  /** Archives of images, or folders of them. */
  readonly images: readonly string[];
}

/** Each machine's own, outside the range of Services: kube-proxy refuses addresses in there that no Service has. */
export const DNS_ADDRESS = "169.254.20.10";
export const POD_NETWORK = "10.212.0.0/16";
