import { createInProcessSignals } from '../../../infrastructure/signals/in-process.ts';
import { signalsContract } from '../../contract/signals.ts';

describe('signals in one process', () => {
  signalsContract(() => {
    const signals = createInProcessSignals();
    return Promise.resolve({ here: signals, there: signals, close: () => signals.close() });
  });
});
