import { applying } from "./applying.ts";
import type { KubectlCase } from "./kubectl.ts";
import { reading } from "./reading.ts";

export const kubectlCases: readonly KubectlCase[] = [...applying, ...reading];
