/* Written by tools/fit_polynomials.py. Each comment says where it fits, and how well (relative error). */
/* [-0.346574, 0.346574]: 4.86e-18 */
WK_INLINE double vm_exp_rest_f64(double x) {
    double p = 2.0914679376583935e-09;
    p = VM_FMA(p, x, 2.510520637395701e-08);
    p = VM_FMA(p, x, 2.7557273661348637e-07);
    p = VM_FMA(p, x, 2.7557255425746435e-06);
    p = VM_FMA(p, x, 2.4801587325533363e-05);
    p = VM_FMA(p, x, 0.00019841269874800493);
    p = VM_FMA(p, x, 0.0013888888888883752);
    p = VM_FMA(p, x, 0.008333333333326141);
    p = VM_FMA(p, x, 0.04166666666666667);
    p = VM_FMA(p, x, 0.1666666666666667);
    p = VM_FMA(p, x, 0.5);
    return p;
}
/* [0, 0.0294373]: 4.65e-16 */
WK_INLINE double vm_log_rest_f64(double x) {
    double p = 0.14616449685043406;
    p = VM_FMA(p, x, 0.15331721600556042);
    p = VM_FMA(p, x, 0.18182889125261723);
    p = VM_FMA(p, x, 0.2222221113479508);
    p = VM_FMA(p, x, 0.28571428625975487);
    p = VM_FMA(p, x, 0.39999999999899505);
    p = VM_FMA(p, x, 0.666666666666667);
    return p;
}
/* [0, 0.61685]: 5.71e-17 */
WK_INLINE double vm_sin_rest_f64(double x) {
    double p = -7.586697117706918e-13;
    p = VM_FMA(p, x, 1.6058531618986147e-10);
    p = VM_FMA(p, x, -2.5052106232447578e-08);
    p = VM_FMA(p, x, 2.7557319219339167e-06);
    p = VM_FMA(p, x, -0.00019841269841265065);
    p = VM_FMA(p, x, 0.008333333333333331);
    p = VM_FMA(p, x, -0.16666666666666666);
    return p;
}
/* [0, 0.61685]: 5.57e-17 */
WK_INLINE double vm_cos_rest_f64(double x) {
    double p = 4.7458719020432915e-14;
    p = VM_FMA(p, x, -1.1470460887609959e-11);
    p = VM_FMA(p, x, 2.087675579108042e-09);
    p = VM_FMA(p, x, -2.7557319221402824e-07);
    p = VM_FMA(p, x, 2.4801587301584645e-05);
    p = VM_FMA(p, x, -0.0013888888888888887);
    p = VM_FMA(p, x, 0.041666666666666664);
    return p;
}
/* [0, 0.25]: 1.16e-16 */
WK_INLINE double vm_asin_rest_f64(double x) {
    double p = 0.028757851367421566;
    p = VM_FMA(p, x, -0.014851887071247204);
    p = VM_FMA(p, x, 0.01740087944269402);
    p = VM_FMA(p, x, 0.005457506718640358);
    p = VM_FMA(p, x, 0.01032281435018578);
    p = VM_FMA(p, x, 0.011479177415184906);
    p = VM_FMA(p, x, 0.013971212973552933);
    p = VM_FMA(p, x, 0.017352392720869973);
    p = VM_FMA(p, x, 0.02237217294214989);
    p = VM_FMA(p, x, 0.030381944138531247);
    p = VM_FMA(p, x, 0.04464285714635543);
    p = VM_FMA(p, x, 0.07499999999998433);
    p = VM_FMA(p, x, 0.16666666666666669);
    return p;
}
/* [0, 0.171573]: 5.7e-17 */
WK_INLINE double vm_atan_rest_f64(double x) {
    double p = 0.016285756855221028;
    p = VM_FMA(p, x, -0.034570561981427744);
    p = VM_FMA(p, x, 0.04551593220626549);
    p = VM_FMA(p, x, -0.05230454270650244);
    p = VM_FMA(p, x, 0.05878928997834775);
    p = VM_FMA(p, x, -0.06666424885738255);
    p = VM_FMA(p, x, 0.07692296375032143);
    p = VM_FMA(p, x, -0.09090908753500877);
    p = VM_FMA(p, x, 0.11111111105155447);
    p = VM_FMA(p, x, -0.14285714285659828);
    p = VM_FMA(p, x, 0.19999999999999804);
    p = VM_FMA(p, x, -0.3333333333333333);
    return p;
}
/* [0, 1]: 4.19e-17 */
WK_INLINE double vm_erf_slope_f64(double x) {
    double p = -7.795898827002142e-10;
    p = VM_FMA(p, x, 1.3720064546777686e-08);
    p = VM_FMA(p, x, -1.6208483801871705e-07);
    p = VM_FMA(p, x, 1.6447424703317362e-06);
    p = VM_FMA(p, x, -1.492473690741966e-05);
    p = VM_FMA(p, x, 0.00012055294904839707);
    p = VM_FMA(p, x, -0.0008548325975389692);
    p = VM_FMA(p, x, 0.0052239776071164225);
    p = VM_FMA(p, x, -0.02686617064323777);
    p = VM_FMA(p, x, 0.11283791670945006);
    p = VM_FMA(p, x, -0.37612638903183543);
    p = VM_FMA(p, x, 1.1283791670955126);
    return p;
}
/* [-1, 0.87]: 4.54e-17 */
WK_INLINE double vm_erfc_scaled_f64(double x) {
    double p = 8.034747621832463e-10;
    p = VM_FMA(p, x, 8.802935131496108e-10);
    p = VM_FMA(p, x, -8.153142301040427e-09);
    p = VM_FMA(p, x, -1.2872425433951702e-08);
    p = VM_FMA(p, x, 4.116392239948661e-08);
    p = VM_FMA(p, x, 1.0105224533683836e-07);
    p = VM_FMA(p, x, -1.408933602014762e-07);
    p = VM_FMA(p, x, -6.158226068072602e-07);
    p = VM_FMA(p, x, 3.563174047026884e-07);
    p = VM_FMA(p, x, 3.4719000678818537e-06);
    p = VM_FMA(p, x, -7.312356945643645e-07);
    p = VM_FMA(p, x, -2.0100365006585287e-05);
    p = VM_FMA(p, x, 4.949378914661637e-06);
    p = VM_FMA(p, x, 0.00012509930198783127);
    p = VM_FMA(p, x, -0.00010515977053434975);
    p = VM_FMA(p, x, -0.0007798322645714784);
    p = VM_FMA(p, x, 0.0018886903537234357);
    p = VM_FMA(p, x, 0.00252939181544961);
    p = VM_FMA(p, x, -0.023770514918031206);
    p = VM_FMA(p, x, 0.06830802734400031);
    p = VM_FMA(p, x, -0.11927366341534343);
    p = VM_FMA(p, x, 0.12964515870276053);
    p = VM_FMA(p, x, -0.047562294353450024);
    p = VM_FMA(p, x, -0.13562110612458117);
    p = VM_FMA(p, x, 1.2530080582697296);
    return p;
}
/* [-2.5, 2.5]: 5.86e-11 */
WK_INLINE double vm_erfinv_near_f64(double x) {
    double p = -2.1203565131819003e-11;
    p = VM_FMA(p, x, 1.2302888973120805e-10);
    p = VM_FMA(p, x, 8.327000821030813e-10);
    p = VM_FMA(p, x, -1.0854397093112376e-08);
    p = VM_FMA(p, x, 1.3691496015199152e-08);
    p = VM_FMA(p, x, 4.786448243400271e-07);
    p = VM_FMA(p, x, -3.4171152327450104e-06);
    p = VM_FMA(p, x, -4.99588144876006e-06);
    p = VM_FMA(p, x, 0.00021825064939995);
    p = VM_FMA(p, x, -0.001252708083622281);
    p = VM_FMA(p, x, -0.004177317810140035);
    p = VM_FMA(p, x, 0.24664027678526776);
    p = VM_FMA(p, x, 1.501409351110792);
    return p;
}
/* [-2, 2]: 4.92e-10 */
WK_INLINE double vm_erfinv_far_f64(double x) {
    double p = -1.3231951166071563e-09;
    p = VM_FMA(p, x, 5.280010153468987e-09);
    p = VM_FMA(p, x, 1.1275759363925992e-08);
    p = VM_FMA(p, x, -8.176461415389196e-08);
    p = VM_FMA(p, x, 8.731030981314984e-08);
    p = VM_FMA(p, x, 1.8569428781904526e-07);
    p = VM_FMA(p, x, -6.768151888125114e-07);
    p = VM_FMA(p, x, 1.5847394150857254e-06);
    p = VM_FMA(p, x, -3.8528940354656806e-06);
    p = VM_FMA(p, x, 7.64627462951401e-06);
    p = VM_FMA(p, x, -1.2980876839328694e-05);
    p = VM_FMA(p, x, 2.5857763635386502e-05);
    p = VM_FMA(p, x, -7.15323579402919e-05);
    p = VM_FMA(p, x, 0.00022919705956723707);
    p = VM_FMA(p, x, -0.0006520063622585132);
    p = VM_FMA(p, x, 0.0008071934559968992);
    p = VM_FMA(p, x, 1.0099023350433318);
    p = VM_FMA(p, x, 4.041726369161485);
    return p;
}
/* [-0.5, 0.5]: 7.12e-17 */
WK_INLINE double vm_digamma_slope_f64(double x) {
    double p = -0.00017312261802727394;
    p = VM_FMA(p, x, 0.00025968482126430747);
    p = VM_FMA(p, x, -0.00015148586836773365);
    p = VM_FMA(p, x, 0.0002272331660987376);
    p = VM_FMA(p, x, -0.0004821990530566789);
    p = VM_FMA(p, x, 0.0007233266279287554);
    p = VM_FMA(p, x, -0.0010376374098418604);
    p = VM_FMA(p, x, 0.0015566317474486838);
    p = VM_FMA(p, x, -0.002345267632540769);
    p = VM_FMA(p, x, 0.003519006401502276);
    p = VM_FMA(p, x, -0.005279964873257405);
    p = VM_FMA(p, x, 0.007926944646403797);
    p = VM_FMA(p, x, -0.011908218001568644);
    p = VM_FMA(p, x, 0.0179072524394512);
    p = VM_FMA(p, x, -0.02697579675613825);
    p = VM_FMA(p, x, 0.04076083381242074);
    p = VM_FMA(p, x, -0.061922133273064534);
    p = VM_FMA(p, x, 0.09498872445494122);
    p = VM_FMA(p, x, -0.14840492305390884);
    p = VM_FMA(p, x, 0.2405424842407742);
    p = VM_FMA(p, x, -0.4236274212814605);
    p = VM_FMA(p, x, 0.951055876031833);
    return p;
}
/* [-0.346574, 0.346574]: 1.36e-7 */
WK_INLINE float vm_exp_rest_f32(float x) {
    float p = 0.0013926176f;
    p = VM_FMAF(p, x, 0.008363173f);
    p = VM_FMAF(p, x, 0.041666556f);
    p = VM_FMAF(p, x, 0.16666578f);
    p = VM_FMAF(p, x, 0.5f);
    return p;
}
/* [0, 0.0294373]: 2.99e-7 */
WK_INLINE float vm_log_rest_f32(float x) {
    float p = 0.2957995f;
    p = VM_FMAF(p, x, 0.3998878f);
    p = VM_FMAF(p, x, 0.66666687f);
    return p;
}
/* [0, 0.61685]: 3.09e-8 */
WK_INLINE float vm_sin_rest_f32(float x) {
    float p = 2.7249926e-06f;
    p = VM_FMAF(p, x, -0.00019840087f);
    p = VM_FMAF(p, x, 0.008333332f);
    p = VM_FMAF(p, x, -0.16666667f);
    return p;
}
/* [0, 0.61685]: 5.97e-8 */
WK_INLINE float vm_cos_rest_f32(float x) {
    float p = 2.4547942e-05f;
    p = VM_FMAF(p, x, -0.0013888302f);
    p = VM_FMAF(p, x, 0.041666664f);
    return p;
}
/* [0, 1]: 6.63e-8 */
WK_INLINE float vm_erf_slope_f32(float x) {
    float p = 7.875875e-05f;
    p = VM_FMAF(p, x, -0.00080168643f);
    p = VM_FMAF(p, x, 0.0051890872f);
    p = VM_FMAF(p, x, -0.026854211f);
    p = VM_FMAF(p, x, 0.11283594f);
    p = VM_FMAF(p, x, -0.37612626f);
    p = VM_FMAF(p, x, 1.1283791f);
    return p;
}
/* [0.98, 4]: 1.44e-8 */
WK_INLINE float vm_erfc_root_f32(float x) {
    float p = 0.00053419644f;
    p = VM_FMAF(p, x, -0.0038879744f);
    p = VM_FMAF(p, x, 0.017172106f);
    p = VM_FMAF(p, x, -0.031432923f);
    p = VM_FMAF(p, x, 0.07113725f);
    p = VM_FMAF(p, x, 0.05190706f);
    p = VM_FMAF(p, x, 0.15790868f);
    p = VM_FMAF(p, x, 0.9967737f);
    return p;
}
