import { access } from "./access.ts";
import { applying } from "./applying.ts";
import type { KubectlCase } from "./kubectl.ts";
import { reading } from "./reading.ts";
import { rolling } from "./rolling.ts";
import { working } from "./working.ts";

export const kubectlCases: readonly KubectlCase[] = [...applying, ...reading, ...working, ...rolling, ...access];
