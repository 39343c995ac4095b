"""Task sets (simulated phone, AitW, AndroidWorld, MiniWoB, MobileGym, web apps) and curricula."""
