import { Option } from "@commander-js/extra-typings";

/** `--kubelet`: whether a machine plays its pods, or runs them. */
export function kubeletOption() {
  return new Option(
    "--kubelet <kind>",
    "simulated plays pods; real runs containerd and a kubelet in the server's namespace (root; containerd, runc, CNI plugins, tini)",
  )
    .choices(["simulated", "real"])
    .default("simulated" as const);
}
