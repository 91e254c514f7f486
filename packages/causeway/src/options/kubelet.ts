import { Option } from "@commander-js/extra-typings";

/** `--kubelet`: whether a machine plays its pods, or runs them. */
export function kubeletOption() {
  return new Option(
    "--kubelet <kind>",
    "simulated reports pods as running; real runs containerd and a kubelet in the server's namespace (root; containerd, runc, CNI plugins, tini)",
  )
    .choices(["simulated", "real"])
    .default("simulated" as const);
}

/** `--pod-network`: who makes the network of a real machine's pods. */
export function podNetworkOption() {
  return new Option(
    "--pod-network <kind>",
    "with --kubelet real: routes makes a bridge with the Node's podCIDR, reached by the cloud's routes; addon leaves it to an add-on of the cluster, such as flannel",
  )
    .choices(["routes", "addon"])
    .default("routes" as const);
}

/** `--machine-images`: what the images hold that machines boot from. */
export function machineImagesOption() {
  return new Option(
    "--machine-images <dir>",
    "with --kubelet real: folder with what images of the cloud hold, as IMAGE-ID/kubeadm, IMAGE-ID/kubelet and IMAGE-ID/images/*.tar; a machine of such an image runs its whole user data, as root on this host: for machines of users whom you trust",
  );
}
