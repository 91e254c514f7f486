import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { cloudControllerManagerCommand } from "./cloud-controller-manager/command.ts";

/** A component that `causeway run NAME` runs until a signal stops it. */
export interface Component {
  /** The subcommand. Its action imports the component's code, so that `run` loads no other component. */
  readonly command: (signal: AbortSignal) => CommandUnknownOpts;
  /** A command line for the help of `run`, from the component's name on. */
  readonly example: string;
}

/** Every component. To add one, write its folder next to this file and add its entry here. */
export const components: readonly Component[] = [
  {
    command: cloudControllerManagerCommand,
    example: "cloud-controller-manager --cloud-config cloud.conf --kubeconfig admin.conf",
  },
];
