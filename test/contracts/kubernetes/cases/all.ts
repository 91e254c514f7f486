import type { Chapter } from "../interface.ts";
import { applying } from "./applying.ts";
import { deleting } from "./deleting.ts";
import { discovery } from "./discovery.ts";
import { reading } from "./reading.ts";
import { refusals } from "./refusals.ts";
import { watching } from "./watching.ts";
import { writing } from "./writing.ts";
import { wrongTypes } from "./wrong-types.ts";

export const chapters: readonly Chapter[] = [
  discovery,
  reading,
  watching,
  writing,
  applying,
  deleting,
  refusals,
  wrongTypes,
];
