export { playSchedule, scheduleOf, type Schedule } from "./schedule.ts";
