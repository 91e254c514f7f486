import type { Chapter } from "../interface.ts";
import { discovery } from "./discovery.ts";
import { refusals } from "./refusals.ts";
import { wrongTypes } from "./wrong-types.ts";

export const chapters: readonly Chapter[] = [discovery, refusals, wrongTypes];
