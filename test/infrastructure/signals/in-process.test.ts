import { createInProcessSignals } from '../../../infrastructure/signals/in-process.ts';
import { signalsContract } from '../../contract/signals.ts';

describe('in-process signals', () => {
  signalsContract(() => {
    const signals = createInProcessSignals();
    return Promise.resolve({ here: signals, there: signals, close: () => signals.close() });
  });
});
