import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import type { Collector } from '../../application/ports/process-insight.ts';

/**
 * V8's garbage collector. `gogc` is its `--heap-growing-percent`: like Go's GOGC the growth of the heap, in percent of what is alive, at which
 * the next collection begins. V8 asks for it at each collection, so it holds at once; 0 gives the choice back to V8.
 */
export function createCollector(): Collector {
  let percent = 0;
  return {
    growth: () => percent,
    setGrowth(wanted) {
      setFlagsFromString(`--heap-growing-percent=${String(wanted)}`);
      percent = wanted;
    },
    heap() {
      const { total_heap_size, used_heap_size, heap_size_limit, external_memory, malloced_memory } = getHeapStatistics();
      return { total: total_heap_size, used: used_heap_size, limit: heap_size_limit, external: external_memory, malloced: malloced_memory, resident: process.memoryUsage.rss() };
    },
  };
}
